// Glob patterns (`*.py`, `src/**/*.{ts,tsx}`) with bounded matching time, because a model's pattern must not block the server.
import { appError } from '../../errors.ts'

/** Returns whether a path relative to the folder of the pattern matches. */
export type GlobMatcher = (path: string) => boolean

const MAX_PATTERN_CHARACTERS = 500
const MAX_ALTERNATIVES = 64

type Token =
  | { kind: 'character'; value: string }
  | { kind: 'any' }
  | { kind: 'star' }
  | { kind: 'class'; negated: boolean; ranges: readonly (readonly [string, string])[] }

/**
 * Compiles a pattern: `*` and `?` within a name, `[a-z]`, `{a,b}`, and `**` over folders. A pattern without a slash
 * matches the name at any depth, one with a slash matches the path from the start, one that ends with a slash matches
 * everything below that folder. Throws `bad_request` for a pattern that is too long or too complex.
 */
export function compileGlob(pattern: string): GlobMatcher {
  if (pattern.length > MAX_PATTERN_CHARACTERS)
    throw appError('glob_too_long', { limit: MAX_PATTERN_CHARACTERS })
  const alternatives = expandBraces(pattern).map((alternative) => {
    const anchored = alternative.includes('/')
    // A trailing slash means everything in the folder.
    const whole = alternative.endsWith('/') ? `${alternative}**` : alternative
    const segments = whole.split('/').filter((part) => part !== '' && part !== '.')
    const parsed = (anchored ? segments : ['**', ...segments]).map((segment) =>
      segment === '**' ? null : tokenize(segment),
    )
    return parsed
  })
  return (path) => {
    const names = path.split('/')
    return alternatives.some((segments) => matchSegments(segments, names))
  }
}

function expandBraces(pattern: string): string[] {
  let open: string[] = [pattern]
  const done: string[] = []
  while (open.length > 0) {
    if (open.length + done.length > MAX_ALTERNATIVES) throw appError('glob_too_complex')
    const next: string[] = []
    for (const text of open) {
      // An innermost pair, without braces inside.
      const found = /\{([^{}]*)\}/.exec(text)
      if (found === null) done.push(text)
      else
        for (const choice of (found[1] ?? '').split(','))
          next.push(text.slice(0, found.index) + choice + text.slice(found.index + found[0].length))
    }
    open = next
  }
  return done
}

function tokenize(segment: string): Token[] {
  const characters = [...segment]
  const tokens: Token[] = []
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? ''
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else if (character === '?') tokens.push({ kind: 'any' })
    else if (character === '[') {
      const end = characters.indexOf(']', index + 2)
      if (end === -1) tokens.push({ kind: 'character', value: character })
      else {
        tokens.push(readClass(characters.slice(index + 1, end)))
        index = end
      }
    } else if (character === '\\' && index + 1 < characters.length)
      tokens.push({ kind: 'character', value: characters[++index] ?? '' })
    else tokens.push({ kind: 'character', value: character })
  }
  return tokens
}

function readClass(inside: readonly string[]): Token {
  const negated = inside[0] === '!' || inside[0] === '^'
  const members = negated ? inside.slice(1) : inside
  const ranges: [string, string][] = []
  for (let index = 0; index < members.length; index++) {
    const from = members[index] ?? ''
    if (members[index + 1] === '-' && index + 2 < members.length) {
      ranges.push([from, members[index + 2] ?? from])
      index += 2
    } else ranges.push([from, from])
  }
  return { kind: 'class', negated, ranges }
}

const matchesOne = (token: Token, character: string): boolean => {
  switch (token.kind) {
    case 'any':
      return true
    case 'character':
      return token.value === character
    case 'class':
      return (
        token.ranges.some(([from, to]) => character >= from && character <= to) !== token.negated
      )
    case 'star':
      return false
  }
}

/** Matches one name against one segment. After a mismatch only the last star is extended, so the cost is O(n × m). */
function matchName(tokens: readonly Token[], name: string): boolean {
  const characters = [...name]
  let token = 0
  let index = 0
  let star = -1
  let starAt = 0
  while (index < characters.length) {
    const current = tokens[token]
    if (current?.kind === 'star') {
      star = token++
      starAt = index
    } else if (current !== undefined && matchesOne(current, characters[index] ?? '')) {
      token++
      index++
    } else if (star >= 0) {
      token = star + 1
      index = ++starAt
    } else return false
  }
  while (tokens[token]?.kind === 'star') token++
  return token === tokens.length
}

/** Matches segments (null is `**`) against names by tracking how many names the segments so far can consume. */
function matchSegments(segments: readonly (readonly Token[] | null)[], names: readonly string[]) {
  let reachable = new Set([0])
  for (const segment of segments) {
    const next = new Set<number>()
    for (const used of reachable) {
      if (segment === null) for (let more = used; more <= names.length; more++) next.add(more)
      else if (used < names.length && matchName(segment, names[used] ?? '')) next.add(used + 1)
    }
    if (next.size === 0) return false
    reachable = next
  }
  return reachable.has(names.length)
}
