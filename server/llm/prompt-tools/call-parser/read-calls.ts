// Reads the calls in a text that may contain some: the JSON and XML forms that models write, repaired if they are damaged.
import { asRecord, isRecord } from '../../../lib/records.ts'
import { meantTool, readableArguments } from '../../readable-calls.ts'
import { readTolerantly } from '../../tolerant-json.ts'
import { findClosingTag } from './call-tags.ts'

/** A tool call that was read from the text of a model. */
export interface PromptCall {
  name: string
  /** JSON text. */
  arguments: string
}

/** What a candidate turned out to be. `text`: ordinary JSON or prose. `fault`: meant as a call, but unreadable. */
export type Reading =
  | { kind: 'calls'; calls: PromptCall[] }
  | { kind: 'text' }
  | { kind: 'fault'; problem: string }

/** Maps the name of each offered tool to its parameters as JSON Schema. */
export type KnownTools = ReadonlyMap<string, Record<string, unknown>>

const WRAPPER_KEYS = ['tool_call', 'tool_calls', 'function_call']
const NAME_KEYS = ['name', 'tool', 'tool_name', 'function']
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'params', 'input']
const OTHER_KEYS = [
  'id',
  'type',
  'index',
  'thought',
  'thoughts',
  'reason',
  'reasoning',
  'explanation',
]
const CALL_KEYS = new Set([...WRAPPER_KEYS, ...NAME_KEYS, ...ARGUMENT_KEYS, ...OTHER_KEYS])

/** The keys that the outermost object of a call may have. Any other key makes it ordinary JSON. */
export const isCallKey = (key: string): boolean => CALL_KEYS.has(key.trim().toLowerCase())

/** Longer damaged text is not repaired: a repair blocks for milliseconds per ten thousand characters. */
const MAX_REPAIR_CHARACTERS = 20_000

const TEXT_READING: Reading = { kind: 'text' }
const fault = (problem: string): Reading => ({ kind: 'fault', problem })

/**
 * Reads one JSON object or array. `explicit`: it is in a tag, where only calls are expected. `strayQuotes`: offsets of
 * quotes that should have been escaped. `broken`: it ends inside a string.
 */
export function readJsonCalls(
  source: string,
  known: KnownTools,
  options: { explicit: boolean; strayQuotes?: readonly number[]; broken?: boolean },
): Reading {
  const isCall = options.explicit || looksLikeCall(source, known)
  if (options.broken) return isCall ? fault('it ends in the middle of a string') : TEXT_READING
  const parsed = parseDamaged(source, options.strayQuotes ?? [])
  if (parsed === undefined) return isCall ? fault('it is not valid JSON') : TEXT_READING
  const reading = readValue(parsed.value, known, options.explicit)
  if (reading.kind === 'calls' && parsed.repaired && !reading.calls.every(isPlausible))
    return fault('it is not valid JSON')
  return reading.kind === 'text' && options.explicit
    ? fault('it has no "name" and "arguments"')
    : reading
}

function readValue(value: unknown, known: KnownTools, explicit: boolean): Reading {
  if (Array.isArray(value)) {
    if (value.length === 0) return TEXT_READING
    const calls: PromptCall[] = []
    for (const item of value) {
      const reading = readValue(item, known, explicit)
      if (reading.kind !== 'calls') return reading
      calls.push(...reading.calls)
    }
    return { kind: 'calls', calls }
  }
  if (!isRecord(value)) return TEXT_READING
  for (const key of WRAPPER_KEYS) {
    const inner = value[key]
    if (typeof inner !== 'object' || inner === null) continue
    const reading = readValue(inner, known, true)
    return reading.kind === 'text' ? fault(`"${key}" has no "name" and "arguments"`) : reading
  }
  if (isRecord(value.function)) {
    const reading = readNamed(value.function, known, explicit || value.type === 'function')
    return reading ?? TEXT_READING
  }
  return readNamed(value, known, explicit) ?? TEXT_READING
}

/** `{name, arguments}` in the spellings that models use; undefined for anything else. */
function readNamed(
  value: Record<string, unknown>,
  known: KnownTools,
  explicit: boolean,
): Reading | undefined {
  const nameKey = NAME_KEYS.find((key) => typeof value[key] === 'string' && value[key] !== '')
  if (nameKey === undefined) return undefined
  const name = meantTool(String(value[nameKey]), known.keys())
  const argumentKey = ARGUMENT_KEYS.find((key) => Object.hasOwn(value, key))
  const argumentValue = argumentKey === undefined ? undefined : value[argumentKey]
  if (!explicit) {
    // Outside of the explicit forms, both parts are required; for an unknown tool, with exactly these names.
    if (argumentKey === undefined) return undefined
    const exact = nameKey === 'name' && argumentKey === 'arguments' && isRecord(argumentValue)
    if (!known.has(name) && !exact) return undefined
    if (
      argumentValue !== null &&
      typeof argumentValue !== 'object' &&
      typeof argumentValue !== 'string'
    )
      return undefined
  }
  return { kind: 'calls', calls: [{ name, arguments: argumentText(argumentValue) }] }
}

function argumentText(given: unknown): string {
  if (given === undefined || given === null || given === '') return '{}'
  if (typeof given !== 'string') return JSON.stringify(given)
  return readableArguments(given, { isCut: false }) ?? given
}

/** Whether damaged text was certainly meant as a call: it begins like one, or names a known tool and has arguments. */
function looksLikeCall(source: string, known: KnownTools): boolean {
  const start = source.slice(0, 300)
  if (/^\s*[[{]\s*["'“]?(tool_calls?|function_call)["'”]?\s*:\s*[[{]/.test(start)) return true
  const name = /["'“]?name["'”]?\s*:\s*["'“]([^"'”]{1,100})["'”]/.exec(start)?.[1]
  return (
    name !== undefined && known.has(name) && /["'“]?(arguments|parameters)["'”]?\s*:/.test(source)
  )
}

/** A repair turns any text into JSON. If a name or key contains punctuation, the text was not JSON. */
const isPlausible = (call: PromptCall): boolean =>
  /^[\w.:-]{1,200}$/.test(call.name) &&
  Object.keys(asRecord(parse(call.arguments)) ?? {}).every((key) => !/[\s"':,{}]/.test(key))

const tolerant = (source: string): string => readTolerantly(source, { mayClose: true })?.json ?? ''

interface Parsed {
  value: object
  /** Whether it was repaired by guessing, and not only by escaping quotes. */
  repaired: boolean
}

function parseDamaged(source: string, strayQuotes: readonly number[]): Parsed | undefined {
  const attempts: [repaired: boolean, text: () => string][] = [[false, () => source]]
  const escaped = strayQuotes.length === 0 ? undefined : escapeAt(source, strayQuotes)
  if (escaped !== undefined) attempts.push([false, () => escaped])
  if (source.length <= MAX_REPAIR_CHARACTERS) {
    attempts.push([true, () => tolerant(source)])
    if (escaped !== undefined) attempts.push([true, () => tolerant(escaped)])
  }
  for (const [repaired, text] of attempts) {
    try {
      const value: unknown = JSON.parse(text())
      if (typeof value === 'object' && value !== null) return { value, repaired }
    } catch {
      // The next attempt repairs more.
    }
  }
  return undefined
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function escapeAt(source: string, offsets: readonly number[]): string {
  const parts: string[] = []
  let from = 0
  for (const offset of offsets) {
    parts.push(source.slice(from, offset), '\\')
    from = offset
  }
  return parts.join('') + source.slice(from)
}

/**
 * The content of a call tag that is not JSON: `<function=name><parameter=key>value</parameter></function>` (Qwen
 * Coder), `<function=name>{…}</function>` (Llama), `name <arg_key>key</arg_key><arg_value>value</arg_value>` (GLM).
 */
export function readXmlCalls(source: string, known: KnownTools): Reading {
  const calls: PromptCall[] = []
  for (const part of source.split('<function=').slice(1)) {
    const name = nameBefore(part)
    if (name === undefined) return fault('the name of its function is missing')
    const body = before(after(part, '>'), '</function>')
    const trimmed = body.trim()
    if (trimmed.startsWith('{')) {
      const parsed = parseDamaged(trimmed, [])
      if (parsed === undefined) return fault('its arguments are not valid JSON')
      calls.push({ name, arguments: JSON.stringify(parsed.value) })
      continue
    }
    const pairs = body
      .split('<parameter=')
      .slice(1)
      .map((pair): [string, string] => [
        before(pair, '>').replace(/^["']|["']$/g, ''),
        before(after(pair, '>'), '</parameter>'),
      ])
    calls.push(callOf(name, pairs, known))
  }
  if (calls.length > 0) return { kind: 'calls', calls }
  const name = before(source, '<arg_key>').trim()
  if (!/^[\w.-]{1,200}$/.test(name)) return TEXT_READING
  if (!source.includes('<arg_key>') && !known.has(name)) return TEXT_READING
  const pairs = source
    .split('<arg_key>')
    .slice(1)
    .map((pair): [string, string] => [
      before(pair, '</arg_key>').trim(),
      before(after(pair, '<arg_value>'), '</arg_value>'),
    ])
  return { kind: 'calls', calls: [callOf(name, pairs, known)] }
}

/** The text before a mark; all of it if there is none. */
const before = (source: string, mark: string): string => {
  const at = source.indexOf(mark)
  return at === -1 ? source : source.slice(0, at)
}

/** The text after a mark; empty if there is none. */
const after = (source: string, mark: string): string => {
  const at = source.indexOf(mark)
  return at === -1 ? '' : source.slice(at + mark.length)
}

const nameBefore = (part: string): string | undefined =>
  /^["']?([\w.-]{1,200})["']?>/.exec(part)?.[1]

function callOf(
  name: string,
  pairs: readonly (readonly [string, string])[],
  known: KnownTools,
): PromptCall {
  const properties = known.get(name)?.properties
  const given = pairs.map(([key, raw]): [string, unknown] => {
    const schema: unknown = isRecord(properties) ? properties[key] : undefined
    // One line break on either side belongs to the tags.
    const value = raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '')
    return [key, typedValue(value, isRecord(schema) ? schema.type : undefined)]
  })
  return { name, arguments: JSON.stringify(Object.fromEntries(given)) }
}

/** XML contains only text: parameters declared as strings stay text; anything else is parsed as JSON where possible. */
const typedValue = (value: string, type: unknown): unknown =>
  type === 'string' ? value : (parse(value) ?? value)

/**
 * Returns the calls before the first closing mark in `source`, and the text from the mark on; null if there is no mark, or
 * no call before it. `fence`: the backticks or tildes of the code fence around the value; null if it is in a tag.
 */
export function readBeforeMark(
  source: string,
  known: KnownTools,
  fence: string | null,
): { reading: Reading; rest: string } | null {
  const mark = fence === null ? findClosingTag(source) : source.search(closingFence(fence))
  if (mark === -1) return null
  const reading = readJsonCalls(source.slice(0, mark), known, { explicit: fence === null })
  return reading.kind === 'calls' ? { reading, rest: source.slice(mark) } : null
}

/** The beginning of a line that closes the fence; outside of a fence, any line of backticks. */
const closingFence = (fence: string): RegExp => (fence[0] === '~' ? /^ {0,3}~~~/m : /^ {0,3}```/m)
