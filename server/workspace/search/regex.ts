// Regular expressions from models and users. Runs in the worker thread only, because a pattern may take forever.
import { splitLines } from '../files/text.ts'

/** The lines that match, numbered from 1. */
export interface RegexMatches {
  matches: { line: number; content: string }[]
  truncated: boolean
}

/** A text after its matches were replaced. */
export interface RegexReplacement {
  text: string
  /** Line numbers (from 1) at which the first 50 matches begin. */
  lines: number[]
  count: number
}

const MAX_LINE_CHARACTERS = 500
const MAX_LISTED_LINES = 50

/** Compiles in Unicode mode, or without it for patterns with escapes that Unicode mode rejects (`\-`). */
function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `${flags}u`)
  } catch {
    return new RegExp(pattern, flags)
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** The lines that match, each cut to 500 characters. Throws `SyntaxError` for an invalid pattern. */
export function findMatches(input: {
  pattern: string
  /** True: the pattern is plain text. */
  fixed: boolean
  caseSensitive: boolean
  text: string
  limit: number
}): RegexMatches {
  const source = input.fixed ? escaped(input.pattern) : input.pattern
  const expression = compile(source, input.caseSensitive ? '' : 'i')
  const matches: RegexMatches['matches'] = []
  for (const [index, line] of splitLines(input.text).entries()) {
    if (!expression.test(line)) continue
    if (matches.length >= input.limit) return { matches, truncated: true }
    matches.push({
      line: index + 1,
      content: line.replace(/\r$/, '').slice(0, MAX_LINE_CHARACTERS),
    })
  }
  return { matches, truncated: false }
}

/**
 * Replaces the first match, or `all`. `^` and `$` match at line boundaries; the replacement may use `$1` (or `\1`) and `$&`.
 * Also returns where the matches are, so that the caller can refuse an ambiguous edit.
 */
export function replaceMatches(input: {
  pattern: string
  replacement: string
  text: string
  all: boolean
}): RegexReplacement {
  const expression = compile(input.pattern, 'gm')
  const lines: number[] = []
  let count = 0
  let line = 1
  let counted = 0
  for (const match of input.text.matchAll(expression)) {
    count++
    if (lines.length >= MAX_LISTED_LINES) continue
    for (let index = input.text.indexOf('\n', counted); index !== -1 && index < match.index; ) {
      line++
      counted = index + 1
      index = input.text.indexOf('\n', counted)
    }
    lines.push(line)
  }
  const replacement = input.replacement.replace(/\\(\d)/g, (_all, digit: string) => `$${digit}`)
  const once = input.all ? expression : compile(input.pattern, 'm')
  return { text: count === 0 ? input.text : input.text.replace(once, replacement), lines, count }
}

/**
 * Finds a text, treating all runs of whitespace as equal. Returns character ranges from the first to the last
 * non-whitespace character.
 */
export function locateText(input: { text: string; old: string; limit: number }): {
  ranges: [start: number, end: number][]
} {
  const words = input.old.split(/\s+/).filter((word) => word !== '')
  const ranges: [number, number][] = []
  if (words.length === 0) return { ranges }
  const expression = new RegExp(words.map(escaped).join('\\s+'), 'g')
  for (const match of input.text.matchAll(expression)) {
    ranges.push([match.index, match.index + match[0].length])
    if (ranges.length >= input.limit) break
  }
  return { ranges }
}
