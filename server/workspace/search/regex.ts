// Regular expressions from a model or a user. Only runs in the worker thread: a pattern may take forever.
import { splitLines } from '../files/text.ts'

export interface RegexMatches {
  matches: { line: number; content: string }[]
  truncated: boolean
}

export interface RegexReplacement {
  text: string
  /** Line numbers (from 1) at which the matches begin, at most 50 of them. */
  lines: number[]
  count: number
}

const MAX_LINE = 500
const MAX_LINES_TOLD = 50

/** Compiles with Unicode rules, or without them for patterns with escapes that those reject (`\-`). */
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
    matches.push({ line: index + 1, content: line.replace(/\r$/, '').slice(0, MAX_LINE) })
  }
  return { matches, truncated: false }
}

/**
 * Replaces the first match, or `all`. `^` and `$` match at lines; the replacement may use `$1` (or `\1`) and `$&`. Also
 * returns where the matches are, so that the caller can refuse an ambiguous one.
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
    if (lines.length >= MAX_LINES_TOLD) continue
    for (let at = input.text.indexOf('\n', counted); at !== -1 && at < match.index; ) {
      line++
      counted = at + 1
      at = input.text.indexOf('\n', counted)
    }
    lines.push(line)
  }
  const replacement = input.replacement.replace(/\\(\d)/g, (_all, digit: string) => `$${digit}`)
  const once = input.all ? expression : compile(input.pattern, 'm')
  return { text: count === 0 ? input.text : input.text.replace(once, replacement), lines, count }
}

/**
 * Finds a text, treating any two runs of whitespace as equal: character ranges from its first to its last
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
