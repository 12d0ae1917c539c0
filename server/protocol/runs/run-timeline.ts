// The timeline of a run: its model calls and tool calls in the order in which they ended.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { CallId, RunId } from '../ids.ts'

/** A failed attempt at a model call, followed by an attempt with the same or another model. */
const TimelineRetry = z.object({
  /** Milliseconds from the start of the call to the failure. */
  after_ms: z.int().min(0),
  /** Milliseconds of waiting before the next attempt. */
  delay_ms: z.int().min(0),
  /** The machine-readable reason of the failure. */
  reason: z.string(),
  /** The name of the model of the next attempt, if it is another one. */
  next_model: z.string().optional(),
})

const span = {
  started_at: Timestamp,
  duration_ms: z.int().min(0),
  /** The attempt at the run that made the call; absent for the first one. */
  attempt: z.int().min(2).optional(),
}

/**
 * One model call with its retries and fallbacks. Calls for titles and summaries are not part of the timeline; those of
 * sub-agents are summed in the tool call that started them.
 */
export const TimelineModelCall = z.object({
  kind: z.literal('model'),
  ...span,
  /** The id of the model that answered; the run's model if none did. */
  model: z.string(),
  /** Milliseconds until the first thinking, text or tool call; null if none came. */
  first_output_ms: z.int().min(0).nullable(),
  outcome: z.enum(['finished', 'failed', 'stopped']),
  tool_calls: z.int().min(0),
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  /** Parts of the two above. */
  cached_tokens: z.int().min(0),
  /** Absent if it was not recorded yet. */
  cache_write_tokens: z.int().min(0).optional(),
  reasoning_tokens: z.int().min(0),
  /** Whether the tokens are estimated, because the provider reported no usage. */
  estimated: z.boolean(),
  /** By currency; empty where the model has no price. */
  cost: z.record(z.string(), z.number()),
  retries: z.array(TimelineRetry),
})

/** What the sub-agents of a tool call did in all. */
export const SubAgentWork = z.object({
  model_calls: z.int().min(0),
  tool_calls: z.int().min(0),
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  /** By currency; empty where the models have no price. */
  cost: z.record(z.string(), z.number()),
})
export type SubAgentWork = z.infer<typeof SubAgentWork>

/** A tool call, without its arguments and result. */
export const TimelineToolCall = z.object({
  kind: z.literal('tool'),
  ...span,
  id_ref: CallId,
  name: z.string(),
  success: z.boolean(),
  /** Whether the call did not run, because a person rejected it or a limit was reached. */
  skipped: z.boolean(),
  /** Whether the result of an equal earlier call was used. */
  cached: z.boolean(),
  /** Absent if the call had no sub-agents, or is older than this field. */
  sub_agents: SubAgentWork.optional(),
})

/** A model call or tool call on the timeline. */
export const TimelineEntry = z
  .discriminatedUnion('kind', [TimelineModelCall, TimelineToolCall])
  .meta({ id: 'TimelineEntry' })
export type TimelineEntry = z.infer<typeof TimelineEntry>
export type TimelineModelCall = z.infer<typeof TimelineModelCall>
export type TimelineToolCall = z.infer<typeof TimelineToolCall>

/** The timeline of a run: its model calls and tool calls in the order in which they ended. */
export const RunTimeline = z
  .object({
    run_id: RunId,
    /** Empty for runs from before timelines were stored; at most the first 500. */
    entries: z.array(TimelineEntry),
  })
  .meta({ id: 'RunTimeline' })
export type RunTimeline = z.infer<typeof RunTimeline>

/** How long an answer took, and tokens that its usage does not show, computed from its timeline. */
export const AnswerTiming = z.object({
  /** Milliseconds until the first thinking, text or tool call. */
  first_output_ms: z.int().nullable(),
  /** Milliseconds in which at least one call ran, so without waiting for a person. */
  duration_ms: z.int(),
  /** The part of the completion tokens that the models thought with. */
  reasoning_tokens: z.int(),
  /** The part of the prompt tokens that the providers wrote to their caches. */
  cache_write_tokens: z.int().optional(),
})
export type AnswerTiming = z.infer<typeof AnswerTiming>

/** The work of no sub-agent. */
export const NO_WORK: SubAgentWork = {
  model_calls: 0,
  tool_calls: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost: {},
}

/** The work of several sub-agents together. */
export function addWork(one: SubAgentWork, other: SubAgentWork): SubAgentWork {
  const cost = { ...one.cost }
  for (const [currency, amount] of Object.entries(other.cost))
    cost[currency] = (cost[currency] ?? 0) + amount
  return {
    model_calls: one.model_calls + other.model_calls,
    tool_calls: one.tool_calls + other.tool_calls,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    cost,
  }
}

/** The reasoning tokens of a run, for its terminal event; no field if there are none. */
export function reasoningIn(entries: readonly TimelineEntry[]): { reasoning_tokens?: number } {
  const tokens = timingOf(entries)?.reasoning_tokens ?? 0
  return tokens === 0 ? {} : { reasoning_tokens: tokens }
}

/** The start and the end of each entry, in milliseconds. */
const spansOf = (entries: readonly TimelineEntry[]): { start: number; end: number }[] =>
  entries.map((entry) => {
    const start = Date.parse(entry.started_at)
    return { start, end: start + entry.duration_ms }
  })

/** Milliseconds from the first call's start to the last one's end, waiting for a person included. */
export function wholeSpanOf(entries: readonly TimelineEntry[]): number {
  const spans = spansOf(entries)
  if (spans.length === 0) return 0
  return Math.max(...spans.map(({ end }) => end)) - Math.min(...spans.map(({ start }) => start))
}

/** Milliseconds in which at least one call ran. */
function workedMs(entries: readonly TimelineEntry[]): number {
  let worked = 0
  let until = 0
  for (const { start, end } of spansOf(entries).sort((one, other) => one.start - other.start)) {
    worked += Math.max(0, end - Math.max(start, until))
    until = Math.max(until, end)
  }
  return worked
}

/** Computes the timing of an answer; null for an empty timeline. */
export function timingOf(entries: readonly TimelineEntry[]): AnswerTiming | null {
  if (entries.length === 0) return null
  const calls = entries.filter((entry) => entry.kind === 'model')
  return {
    first_output_ms: calls[0]?.first_output_ms ?? null,
    duration_ms: workedMs(entries),
    reasoning_tokens: calls.reduce((sum, call) => sum + call.reasoning_tokens, 0),
    cache_write_tokens: calls.reduce((sum, call) => sum + (call.cache_write_tokens ?? 0), 0),
  }
}
