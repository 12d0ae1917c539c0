// What a grant would have allowed among the calls that its user decided, and the narrowest match that covers a call.
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { DecidedCall } from '../db/repositories/runs/decided-calls.ts'
import type { Store } from '../db/store.ts'
import { createTurns } from '../lib/turns.ts'
import type { UserId } from '../protocol/ids.ts'
import { fieldsOf, parseJson } from '../protocol/read-json.ts'
import {
  type GrantMatch,
  type GrantPattern,
  type GrantPreview,
  type GrantSample,
  MAX_MATCH_CHARACTERS,
  MAX_VALUES,
} from '../protocol/runs/grant.ts'
import { visibleValue } from '../protocol/runs/visible-text.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import { kindOf } from './argument-forms.ts'
import { type GrantPlace, holds, mayCover } from './covering.ts'
import { compileMatch, defaultsOf, normalValue, UNMATCHED } from './match-call.ts'

/** How far back decisions count, in days. */
const DAYS = 90
const MAX_SAMPLES = 20
/** Characters of a text in a sample. */
const MAX_SAMPLE_CHARACTERS = 2_000

/** Whose calls of which tool, and where. */
export interface Replay {
  userId: UserId
  tool: ToolDefinition
  place: GrantPlace
  /** Whether calls of conversations with text from outside count. */
  evenTainted: boolean
  store: Pick<Store, 'decidedCalls'>
  now(): Date
}

type Value = Readonly<Record<string, unknown>>

/** The checked arguments of a call that was decided or waits; undefined if the tool no longer accepts them. */
export function checkedArguments(
  tool: ToolDefinition,
  { arguments: written, decidedArguments }: Pick<DecidedCall, 'arguments' | 'decidedArguments'>,
): Value | undefined {
  const parsed = tool.parse(decidedArguments ?? written)
  return parsed.ok ? parsed.input.value : undefined
}

/** The decided calls that a grant of this kind could let through, newest first. */
async function* replayed(replay: Replay): AsyncGenerator<DecidedCall & { value: Value }> {
  const { userId, tool, place, evenTainted, store, now } = replay
  const turn = createTurns()
  const batches = store.decidedCalls.stream({
    userId,
    names: [tool.name, ...tool.aliases],
    place,
    since: new Date(now().getTime() - DAYS * 86_400_000),
  })
  for await (const batch of batches) {
    for (const call of batch) {
      const value = checkedArguments(tool, call)
      if (value !== undefined && mayCover({ evenTainted }, { ...call, tool }))
        yield { ...call, value }
      await turn()
    }
    await setImmediate()
  }
}

/** Replays a match over the user's decisions. */
export async function replayMatch(
  replay: Replay,
  match: GrantMatch,
): Promise<Omit<GrantPreview, 'suggested'>> {
  const test = compileMatch(replay.tool, match)
  const would_allow = { approved: 0, rejected: 0 }
  const samples: Record<GrantSample['state'], GrantSample[]> = { approved: [], rejected: [] }
  for await (const call of replayed(replay)) {
    if (!holds(test, call.value)) continue
    const state = call.status === 'rejected' ? 'rejected' : 'approved'
    would_allow[state] += 1
    if (samples[state].length < MAX_SAMPLES) samples[state].push(sampleOf(call, state))
  }
  return { would_allow, samples: [...samples.rejected, ...samples.approved].slice(0, MAX_SAMPLES) }
}

const sampleOf = (call: DecidedCall, state: GrantSample['state']): GrantSample => ({
  approval_id: call.id,
  name: call.name,
  arguments: fieldsOf(visibleValue(shortened(parseJson(call.decidedArguments ?? call.arguments)))),
  state,
})

/** Long texts are cut, at any depth that a person can read. */
function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string')
    return value.length <= MAX_SAMPLE_CHARACTERS
      ? value
      : `${value.slice(0, MAX_SAMPLE_CHARACTERS)}…`
  if (typeof value !== 'object' || value === null) return value
  if (depth > 5) return '…'
  if (Array.isArray(value)) return value.slice(0, 50).map((entry) => shortened(entry, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 50)
      .map(([name, entry]) => [name, shortened(entry, depth + 1)]),
  )
}

/**
 * The narrowest match that covers a call and those of the user's earlier approved calls that differ from it in at most one
 * argument. Undefined if it would be too large to be stored.
 */
export async function suggestMatch(
  replay: Replay,
  call: { id: string; value: Value; createdAt: Date },
): Promise<GrantMatch | undefined> {
  const { tool } = replay
  const mine = normalArguments(tool, call.value)
  if (mine === null) return undefined
  /** The values of each argument; undefined: it was absent. */
  const values = new Map<string, unknown[]>([...mine].map(([name, value]) => [name, [value]]))
  for await (const earlier of replayed(replay)) {
    if (earlier.status !== 'approved' || earlier.id === call.id) continue
    if (earlier.createdAt > call.createdAt) continue
    const other = normalArguments(tool, earlier.value)
    if (other === null) continue
    const different = [...new Set([...mine.keys(), ...other.keys()])].filter(
      (name) => !isDeepStrictEqual(mine.get(name), other.get(name)),
    )
    const [name] = different
    if (name === undefined || different.length > 1) continue
    const known = values.get(name) ?? [undefined]
    // With one value more than a match can name, the argument may be anything.
    if (
      known.length <= MAX_VALUES &&
      !known.some((value) => isDeepStrictEqual(value, other.get(name)))
    )
      known.push(other.get(name))
    values.set(name, known)
  }
  return fitting(tool, values)
}

/** The arguments in their normal form; null if one has none, so that no match can cover the call. */
function normalArguments(tool: ToolDefinition, value: Value): Map<string, unknown> | null {
  const normal = new Map(
    Object.entries(value)
      .filter(([, given]) => given !== undefined)
      .map(([name, given]) => [name, normalValue(tool, kindOf(tool, name), given)]),
  )
  return [...normal.values()].includes(UNMATCHED) ? null : normal
}

/** The patterns for these values. The longest become `any` if the match would be too large, except for commands. */
function fitting(
  tool: ToolDefinition,
  values: ReadonlyMap<string, readonly unknown[]>,
): GrantMatch | undefined {
  const defaults = defaultsOf(tool)
  const patterns = [...values].flatMap(([name, given]) => {
    const isDefault =
      given.length === 1 && defaults.has(name) && isDeepStrictEqual(given[0], defaults.get(name))
    return isDefault ? [] : [{ name, pattern: patternOf(given) }]
  })
  const size = (pattern: GrantPattern): number => JSON.stringify(pattern).length
  let left = MAX_MATCH_CHARACTERS - patterns.length * 220
  const match: GrantMatch = {}
  for (const { name, pattern } of patterns.toSorted(
    (one, other) => size(one.pattern) - size(other.pattern),
  )) {
    const chosen = size(pattern) <= left ? pattern : ANY
    if ('any' in chosen && kindOf(tool, name) === 'command') return undefined
    match[name] = chosen
    left -= size(chosen)
  }
  return match
}

const ANY: GrantPattern = { any: true }

function patternOf(values: readonly unknown[]): GrantPattern {
  if (values.includes(undefined) || values.length > MAX_VALUES) return ANY
  const [first] = values
  // Checked arguments come from JSON, and are written as JSON.
  const pattern = JSON.stringify(values.length === 1 ? { equals: first } : { one_of: values })
  return JSON.parse(pattern)
}
