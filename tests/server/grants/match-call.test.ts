// Which calls a grant covers: random grants against random calls, judged by a second matcher that is written from the rules alone.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { checkMatch } from '../../../server/grants/check-match.ts'
import { compileGlob } from '../../../server/grants/globs.ts'
import { compileMatch } from '../../../server/grants/match-call.ts'
import { GrantMatch, type GrantPattern } from '../../../server/protocol/runs/grant.ts'
import type { RiskLevel } from '../../../server/protocol/runs/run-event.ts'
import { defineTool, succeed, type ToolDefinition } from '../../../server/tools/definition.ts'
import { type Random, randomFrom, SEED } from '../../support/random.ts'

const toolOf = (
  name: string,
  category: string,
  input: z.ZodObject,
  riskLevel: RiskLevel = 'medium',
): ToolDefinition =>
  defineTool({
    name,
    category,
    riskLevel,
    description: name,
    input,
    handler: async () => succeed({}),
  })

const tools = {
  file: toolOf(
    'file_write',
    'file',
    z.object({
      path: z.string(),
      content: z.string(),
      mode: z.enum(['overwrite', 'append']).default('overwrite'),
    }),
  ),
  exec: toolOf(
    'exec',
    'shell',
    z.object({ command: z.string(), timeout: z.number().default(30) }),
    'high',
  ),
  fetch: toolOf('crawl_batch', 'crawler', z.object({ urls: z.array(z.string()).min(1) }), 'low'),
  mcp: toolOf(
    'mcp__shop__order',
    'mcp',
    z.object({
      item: z.unknown().optional(),
      count: z.number().optional(),
      url: z.string().optional(),
    }),
  ),
}

// The second matcher: slow, with nothing in common with the first.

const globExpression = (glob: string): RegExp => {
  const source = glob
    .split(/(\*\*|\*)/)
    .map((part) =>
      part === '**'
        ? '[\\s\\S]*'
        : part === '*'
          ? '[^/]*'
          : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('')
  return new RegExp(`^${source}$`)
}

/** Null: it leaves the project, or no file may be named so. */
function plainPath(text: string): string | null {
  if (text.startsWith('/') || text.includes('\\') || text.includes('\u0000')) return null
  const parts: string[] = []
  for (const part of text.split('/')) {
    if (part === '..') {
      if (parts.length === 0) return null
      parts.length -= 1
    } else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

function plainForm(tool: ToolDefinition, argument: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => plainForm(tool, argument, entry))
    return entries.includes(null) ? null : entries
  }
  if (typeof value !== 'string') return value
  if (tool.category === 'file' && argument === 'path') return plainPath(value)
  if (argument !== 'url' && argument !== 'urls') return value
  for (const text of [value, `https://${value}`]) {
    if (text !== value && tool.category === 'mcp') break
    try {
      return new URL(text).href
    } catch {
      // The next one.
    }
  }
  return tool.category === 'mcp' ? value : null
}

const same = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other)
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

function plainlyCovers(
  tool: ToolDefinition,
  match: GrantMatch,
  call: Record<string, unknown>,
  defaults: Record<string, unknown>,
): boolean {
  for (const name of new Set([...Object.keys(call), ...Object.keys(match)])) {
    const pattern = match[name]
    const value = call[name]
    if (pattern === undefined) {
      if (value !== undefined && !(name in defaults && same(value, defaults[name]))) return false
    } else if (!plainlyMatches(tool, name, pattern, value)) return false
  }
  return true
}

function plainlyMatches(
  tool: ToolDefinition,
  name: string,
  pattern: GrantPattern,
  given: unknown,
): boolean {
  if ('any' in pattern) return true
  if (given === undefined) return false
  const value = plainForm(tool, name, given)
  if (value === null && given !== null) return false
  const one = (entry: unknown): boolean => {
    if ('equals' in pattern || 'one_of' in pattern) {
      const wanted = 'equals' in pattern ? [pattern.equals] : pattern.one_of
      return wanted.some((other) => {
        const form = plainForm(tool, name, other)
        return (form !== null || other === null) && same(form, entry)
      })
    }
    if (typeof entry !== 'string') return false
    if ('glob' in pattern) return globExpression(pattern.glob).test(entry)
    if (!('prefix' in pattern) || !entry.startsWith(pattern.prefix)) return false
    if (tool.name !== 'exec') return true
    const rest = entry.slice(pattern.prefix.length)
    return (
      (rest === '' || /^\s/.test(rest)) && ![...rest].some((c) => ';&|<>()$`\\\'"\n\r'.includes(c))
    )
  }
  return one(value) || (Array.isArray(value) && value.length > 0 && value.every(one))
}

// Random grants and calls, from few words, so that many of them meet.

const paths = [
  'notes/a.md',
  './notes//a.md',
  'notes/b/c.md',
  'x/../notes/a.md',
  '../a.md',
  '/etc/passwd',
  'notes',
  'notes\\a.md',
  'a.md',
]
const urls = [
  'https://ab.example/x',
  'https://AB.example:443/x',
  'ab.example/x',
  'https://ab.example/x/../y?q=1',
  'https://u:p@ab.example/x',
  'https://ab.example.evil/x',
  'http://ab.example/x',
  'https://ab.example/%2e%2e/x',
  'https://ab.example\\x',
]
const commands = [
  'git status',
  'git status -s',
  'git statusx',
  'git status; rm',
  'git status "a"',
  'git status\nrm',
  'git status $(x)',
  'git\tstatus',
  'git status > f',
  'git',
]
const values: z.infer<ReturnType<typeof z.json>>[] = [
  'a',
  'b',
  '',
  1,
  2,
  null,
  true,
  { a: 1, b: [2] },
  { b: [2], a: 1 },
  ['a'],
  ['a', 'a'],
  ['a', 'b'],
  [],
]

const patterns = {
  path: (r: Random): GrantPattern =>
    r.pick<GrantPattern>([
      { equals: r.pick(paths) },
      { one_of: [r.pick(paths), r.pick(paths)] },
      { prefix: r.pick(['notes/', 'no', '']) },
      {
        glob: r.pick([
          'notes/*.md',
          'notes/**',
          '**/*.md',
          '*',
          '**',
          'notes/*',
          '*/a.md',
          'n*s/*',
        ]),
      },
      { any: true },
    ]),
  urls: (r: Random): GrantPattern =>
    r.pick<GrantPattern>([
      { equals: r.pick(urls) },
      { equals: [r.pick(urls), r.pick(urls)] },
      { one_of: [r.pick(urls), r.pick(urls)] },
      { prefix: r.pick(['https://ab.example/', 'https://ab.example/x', 'http://ab.example/']) },
      { glob: r.pick(['https://ab.example/*', 'https://ab.example/**', 'https://ab.example/x*']) },
      { any: true },
    ]),
  command: (r: Random): GrantPattern =>
    r.pick<GrantPattern>([
      { equals: r.pick(commands) },
      { one_of: [r.pick(commands), r.pick(commands)] },
      { prefix: r.pick(['git', 'git status', 'git s', 'git status ']) },
    ]),
  value: (r: Random): GrantPattern =>
    r.pick<GrantPattern>([
      { equals: r.pick(values) },
      { one_of: [r.pick(values), r.pick(values)] },
      { prefix: r.pick(['a', '']) },
      { glob: r.pick(['*', 'a', 'b*']) },
      { any: true },
    ]),
}

const sometimes = <T extends object>(r: Random, fields: T): Partial<T> =>
  r.share() < 0.6 ? fields : {}

const cases = {
  file: (r: Random) => ({
    tool: tools.file,
    defaults: { mode: 'overwrite' },
    match: {
      ...sometimes(r, { path: patterns.path(r) }),
      ...sometimes(r, { content: patterns.value(r) }),
      ...(r.share() < 0.2 ? { mode: { equals: 'append' } } : {}),
    },
    call: {
      path: r.pick(paths),
      content: r.pick(['a', 'b', '']),
      ...sometimes(r, { mode: r.pick(['overwrite', 'append']) }),
    },
  }),
  exec: (r: Random) => ({
    tool: tools.exec,
    defaults: { timeout: 30 },
    match: {
      ...sometimes(r, { command: patterns.command(r) }),
      ...(r.share() < 0.2 ? { timeout: { any: true as const } } : {}),
    },
    call: { command: r.pick(commands), ...(r.share() < 0.2 ? { timeout: 60 } : {}) },
  }),
  fetch: (r: Random) => ({
    tool: tools.fetch,
    defaults: {},
    match: { urls: patterns.urls(r) },
    call: { urls: Array.from({ length: 1 + r.below(2) }, () => r.pick(urls)) },
  }),
  mcp: (r: Random) => ({
    tool: tools.mcp,
    defaults: {},
    match: {
      ...sometimes(r, { item: patterns.value(r) }),
      ...(r.share() < 0.3 ? { count: patterns.value(r) } : {}),
      ...(r.share() < 0.3 ? { url: patterns.urls(r) } : {}),
    },
    call: {
      ...sometimes(r, { item: r.pick(values) }),
      ...(r.share() < 0.3 ? { count: r.below(3) } : {}),
      ...(r.share() < 0.3 ? { url: r.pick(urls) } : {}),
    },
  }),
}

describe(`grants and calls (SEED=${SEED})`, () => {
  test.each(Object.entries(cases))(
    'of 5,000 random calls of the %s tool, a random grant covers exactly those that the rules name',
    (_name, make) => {
      const random = randomFrom(SEED)
      let covered = 0
      for (let round = 0; round < 5_000; round += 1) {
        const { tool, match, call, defaults } = make(random)
        const checked = GrantMatch.parse(match)
        const parsed = tool.parse(JSON.stringify(call))
        if (!parsed.ok) continue
        const expected = plainlyCovers(tool, checked, parsed.input.value, defaults)
        const found = compileMatch(tool, checked)(parsed.input.value)
        expect(found, JSON.stringify({ match, call })).toBe(expected)
        if (found) covered += 1
      }
      expect(covered).toBeGreaterThan(100)
    },
  )

  test('random patterns match random texts exactly as regular expressions do', () => {
    const random = randomFrom(SEED)
    const text = (letters: readonly string[], longest: number) =>
      Array.from({ length: random.below(longest) }, () => random.pick(letters)).join('')
    for (let round = 0; round < 20_000; round += 1) {
      const glob = text(['a', 'b', '/', '*', '**'], 7)
      const given = text(['a', 'b', '/', '\n'], 8)
      expect(compileGlob(glob)(given), JSON.stringify({ glob, given })).toBe(
        globExpression(glob).test(given),
      )
    }
  })

  test('a pattern that could take forever does not', () => {
    const started = performance.now()
    expect(compileGlob('a*'.repeat(2_000))('a'.repeat(200_000))).toBe(false)
    expect(compileGlob('**a'.repeat(1_000))('b'.repeat(1_000_000))).toBe(false)
    // Places in many folders, each followed by a long text in which the next part is missing.
    expect(compileGlob('**a*zq')(`${'a/'.repeat(20_000)}${'c'.repeat(1_000_000)}`)).toBe(false)
    expect(compileGlob('**a*b*b')(`${'a'.repeat(20_000)}${'c'.repeat(1_000_000)}`)).toBe(false)
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  test('a long list takes no more time than one of its texts may take', () => {
    const urls = Array.from(
      { length: 2_000 },
      (_, at) => `https://example.com/${'a'.repeat(2_000)}${at}`,
    )
    const covers = compileMatch(tools.fetch, { urls: { glob: 'https://example.com/**a**b' } })
    const started = performance.now()
    expect(covers({ urls })).toBe(false)
    const short = compileMatch(tools.fetch, { urls: { glob: 'https://example.com/**a**' } })
    // Each entry alone is covered; all of them together take too long to be compared.
    expect(urls.slice(0, 3).every((url) => short({ urls: [url] }))).toBe(true)
    expect(short({ urls })).toBe(false)
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  test('arguments that are named like parts of every object are ordinary names', () => {
    const test = compileMatch(tools.mcp, {})
    expect(test(JSON.parse('{"__proto__": 1}'))).toBe(false)
    expect(test({ constructor: 1 })).toBe(false)
    expect(test({})).toBe(true)
  })
})

describe('a match', () => {
  const check =
    (tool: ToolDefinition, match: GrantMatch, evenTainted = false) =>
    () =>
      checkMatch(tool, match, { evenTainted })

  test.each<[GrantPattern, boolean]>([
    [{ prefix: 'https://example.com/' }, true],
    [{ prefix: 'https://example.com:8443/a' }, true],
    [{ glob: 'https://example.com/**' }, true],
    [{ prefix: 'https://example.com' }, false],
    [{ prefix: 'https://' }, false],
    [{ prefix: 'https://user@example.com/' }, false],
    [{ prefix: 'example.com/' }, false],
    [{ glob: 'https://*.example.com/' }, false],
    [{ glob: 'https://**' }, false],
    [{ glob: '**' }, false],
    [{ prefix: 'file:///etc/' }, false],
    [{ equals: 'https://example.com/x' }, true],
  ])('of an address, %j, is accepted: %s', (pattern, isAccepted) => {
    const of = check(tools.fetch, { urls: pattern })
    if (isAccepted) expect(of).not.toThrow()
    else expect(of).toThrow(expect.objectContaining({ status: 400 }))
  })

  test.each<[GrantPattern, boolean]>([
    [{ prefix: 'git status' }, true],
    [{ equals: 'make' }, true],
    [{ one_of: ['make', 'ls'] }, true],
    [{ prefix: ' ' }, false],
    [{ glob: 'git *' }, false],
    [{ any: true }, false],
  ])('of a command, %j, is accepted: %s', (pattern, isAccepted) => {
    const of = check(tools.exec, { command: pattern })
    if (isAccepted) expect(of).not.toThrow()
    else expect(of).toThrow(expect.objectContaining({ status: 400 }))
  })

  const message = toolOf(
    'message',
    'agent',
    z.object({ content: z.string(), to: z.string().optional() }),
  )
  const high = toolOf('file_delete', 'file', z.object({ path: z.string() }), 'high')
  const low = toolOf('file_read', 'file', z.object({ path: z.string() }), 'low')
  const other = toolOf('note', 'basic', z.object({ text: z.string() }))
  test.each<[string, ToolDefinition, GrantMatch, boolean]>([
    ['any path', tools.file, { path: { any: true }, content: { any: true } }, false],
    ['a named path', tools.file, { path: { equals: 'a.md' }, content: { any: true } }, true],
    ['named paths', tools.file, { path: { one_of: ['a.md'] } }, true],
    ['a folder', tools.file, { path: { glob: 'notes/*' }, content: { any: true } }, true],
    ['the beginning of a path in a folder', tools.file, { path: { prefix: 'notes/' } }, true],
    ['the beginning of a name', tools.file, { path: { prefix: 'notes' } }, false],
    ['every Markdown file', tools.file, { path: { glob: '**/*.md' } }, false],
    ['every path, spelled with a dot', tools.file, { path: { glob: './*' } }, false],
    ['every path, as an empty beginning', tools.file, { path: { prefix: '' } }, false],
    ['a recipient', message, { to: { equals: 'channel:me' }, content: { any: true } }, true],
    ['recipients that begin alike', message, { to: { prefix: 'channel:' } }, false],
    ['any recipient', message, { to: { any: true } }, false],
    ['no recipient', message, { content: { any: true } }, true],
    ['a site', tools.fetch, { urls: { prefix: 'https://example.com/' } }, true],
    ['any argument of a foreign tool', tools.mcp, { item: { any: true } }, false],
    ['an argument of a foreign tool that is any text', tools.mcp, { item: { glob: '**' } }, false],
    ['named arguments of a foreign tool', tools.mcp, { item: { equals: 1 } }, true],
    ['a tool of high risk', high, { path: { equals: 'a' } }, false],
    ['a tool that is never asked about', low, { path: { equals: 'a' } }, false],
    ['commands', tools.exec, { command: { equals: 'ls' } }, false],
    ['a tool without a bound', other, { text: { equals: 'a' } }, false],
  ])('for conversations with text from outside, of %s', (_what, tool, match, isAccepted) => {
    const of = check(tool, match, true)
    if (isAccepted) expect(of).not.toThrow()
    else expect(of).toThrow(expect.objectContaining({ code: 'grant_too_wide', status: 400 }))
    expect(check(tool, match)).not.toThrow()
  })
})
