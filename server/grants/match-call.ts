// Whether a grant covers a call: pure functions over its match and the checked arguments.
import { isDeepStrictEqual } from 'node:util'
import type { GrantMatch, GrantPattern } from '../protocol/runs/grant.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import { type ArgumentKind, kindOf, normalForm } from './argument-forms.ts'
import { compileGlob, type GlobBudget, globBudget } from './globs.ts'

/** What matching needs to know about a tool. */
export type MatchedTool = Pick<ToolDefinition, 'name' | 'category' | 'parameters'>

/** A test of one argument; undefined stands for an absent one. */
type ArgumentTest = (value: unknown) => boolean

/** A test of the checked arguments of a call, with their defaults. */
export type CallTest = (value: Readonly<Record<string, unknown>>) => boolean

/** Compiles a match into the test whether it covers a call of the tool. Null covers every call. */
export function compileMatch(tool: MatchedTool, match: GrantMatch | null): CallTest {
  if (match === null) return () => true
  const tests = new Map(
    Object.entries(match).map(([name, pattern]) => [
      name,
      compilePattern(tool, kindOf(tool, name), pattern),
    ]),
  )
  const defaults = defaultsOf(tool)
  return (value) => {
    for (const [name, test] of tests)
      if (!test(Object.hasOwn(value, name) ? value[name] : undefined)) return false
    return Object.entries(value).every(
      ([name, given]) =>
        tests.has(name) ||
        given === undefined ||
        (defaults.has(name) && isDeepStrictEqual(given, defaults.get(name))),
    )
  }
}

/** The default of each argument that has one. */
export function defaultsOf({
  parameters,
}: Pick<ToolDefinition, 'parameters'>): Map<string, unknown> {
  const { properties } = parameters
  if (typeof properties !== 'object' || properties === null) return new Map()
  return new Map(
    Object.entries(properties).flatMap(([name, schema]: [string, unknown]) =>
      typeof schema === 'object' && schema !== null && 'default' in schema
        ? [[name, schema.default] as const]
        : [],
    ),
  )
}

function compilePattern(
  tool: MatchedTool,
  kind: ArgumentKind,
  pattern: GrantPattern,
): ArgumentTest {
  if ('any' in pattern) return () => true
  if ('equals' in pattern) return equalTo(tool, kind, [pattern.equals])
  if ('one_of' in pattern) return equalTo(tool, kind, pattern.one_of)
  const test = 'prefix' in pattern ? prefixTest(kind, pattern.prefix) : globTest(kind, pattern.glob)
  return (value) => {
    const budget = globBudget()
    const isMatched = ofEach((text) => {
      if (typeof text !== 'string') return false
      const normal = rememberedForm(tool, kind, text)
      return normal !== null && test(normal, budget)
    })
    return isMatched(value)
  }
}

/** A list matches when each of its entries does; an empty one has nothing that could. */
const ofEach =
  (test: ArgumentTest): ArgumentTest =>
  (value) =>
    Array.isArray(value) ? value.length > 0 && value.every(test) : test(value)

/** Any of the values, as JSON values; also a list with no other entries. */
function equalTo(tool: MatchedTool, kind: ArgumentKind, values: readonly unknown[]): ArgumentTest {
  const normal = (value: unknown): unknown => normalValue(tool, kind, value)
  const texts = new Set<string>()
  const others: unknown[] = []
  for (const value of values.map(normal))
    if (typeof value === 'string') texts.add(value)
    else if (value !== UNMATCHED) others.push(value)
  const isOne = (value: unknown): boolean => {
    if (value === undefined) return false
    const given = normal(value)
    if (typeof given === 'string') return texts.has(given)
    return others.some((other) => isDeepStrictEqual(other, given))
  }
  const isEach = ofEach(isOne)
  return (value) => isOne(value) || isEach(value)
}

/** The text whose normal form was asked for last: a call is tested against many grants, one after the other. */
let last: { tool: string; kind: ArgumentKind; text: string; normal: string | null } | null = null

function rememberedForm(tool: MatchedTool, kind: ArgumentKind, text: string): string | null {
  if (last?.text !== text || last.kind !== kind || last.tool !== tool.name)
    last = { tool: tool.name, kind, text, normal: normalForm(tool, kind, text) }
  return last.normal
}

/** Stands for what has no normal form; equal to nothing. */
export const UNMATCHED = Symbol('unmatched')

/** Texts, and those in a list, in their normal form. */
export function normalValue(tool: MatchedTool, kind: ArgumentKind, value: unknown): unknown {
  if (kind === 'value' || kind === 'command') return value
  if (typeof value === 'string') return rememberedForm(tool, kind, value) ?? UNMATCHED
  if (!Array.isArray(value)) return value
  const entries = value.map((entry) => normalValue(tool, kind, entry))
  return entries.includes(UNMATCHED) ? UNMATCHED : entries
}

/** What could begin another command, or change how the rest is read. */
const NOT_SIMPLE = /[;&|<>()$`\\'"\r\n]/

function prefixTest(kind: ArgumentKind, prefix: string): (text: string) => boolean {
  const start = normalPattern(kind, prefix)
  if (kind !== 'command') return (text) => text.startsWith(start)
  return (text) => {
    if (!text.startsWith(start)) return false
    const rest = text.slice(start.length)
    return (rest === '' || /^\s/.test(rest)) && !NOT_SIMPLE.test(rest)
  }
}

const globTest = (
  kind: ArgumentKind,
  glob: string,
): ((text: string, budget: GlobBudget) => boolean) => compileGlob(normalPattern(kind, glob))

/** The beginning of an address that fixes scheme, host and port. */
const FIXED_ORIGIN = /^https?:\/\/[^/?#@*\\\s]+\//i

/** Null for a pattern that leaves the origin of an address open, or names a user. */
export function originOf(pattern: string): { given: string; normal: string } | null {
  const given = FIXED_ORIGIN.exec(pattern)?.[0]
  if (given === undefined || !URL.canParse(given)) return null
  return { given, normal: new URL(given).href }
}

/** A pattern for texts in their normal form. */
export function normalPattern(kind: ArgumentKind, pattern: string): string {
  if (kind === 'path') return pattern.replace(/^(?:\.\/+)+/, '')
  const origin = kind === 'address' ? originOf(pattern) : null
  return origin === null ? pattern : origin.normal + pattern.slice(origin.given.length)
}
