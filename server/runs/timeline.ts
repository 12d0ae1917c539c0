// Records what a run does and when. Stored with the next change of the run.
import type { LlmClient, LlmEvent } from '../llm/client.ts'
import type { ProviderExchange } from '../llm/exchange.ts'
import { noticingOutput } from '../llm/prose.ts'
import { NO_TOKENS, type TokenCounts } from '../llm/usage.ts'
import type { CallId } from '../protocol/ids.ts'
import {
  addWork,
  NO_WORK,
  type SubAgentWork,
  type TimelineEntry,
  type TimelineModelCall,
  type TimelineToolCall,
} from '../protocol/runs/run-timeline.ts'
import type { CallResult } from '../tools/tool-result.ts'
import type { AttemptRecord } from './inspection/run-records.ts'

/** More entries than any run needs; the limit bounds the size of a run's row. */
const MAX_ENTRIES = 500

/** Records the model calls and tool calls of a run while it is performed. */
export interface RunTimeline {
  /** All entries so far, including those of earlier attempts, oldest first. */
  entries(): readonly TimelineEntry[]
  /** Wraps a client so that its calls are recorded. */
  watch(client: LlmClient): LlmClient
  /** Records what a sub-agent of a tool call did; it is part of the call's entry. */
  addSubAgentWork(callId: CallId, work: SubAgentWork | undefined): void
  /** Records a tool call that has just ended. */
  addToolCall(result: CallResult): void
}

/** What the timeline of an attempt starts with. */
export interface TimelineDependencies {
  /** The run's own model, for calls that no model answered. */
  model: string
  /** The number of this attempt at the run. */
  attempt: number
  /** Entries of earlier attempts. */
  earlier: readonly TimelineEntry[]
  now(): Date
  /** The cost of a model call by currency; empty where the model has no price. */
  costOf(model: string, usage: TokenCounts): Promise<Record<string, number>>
  /** Receives the exchanges of each model call with providers. */
  record?: Pick<AttemptRecord, 'addCall'> | undefined
}

/** Create one per attempt. It continues the entries of `earlier` attempts and is bounded. */
export function createRunTimeline(dependencies: TimelineDependencies): RunTimeline {
  const { now, attempt, record: runRecord } = dependencies
  const entries = [...dependencies.earlier]
  /** By the calls that have not ended. */
  const works = new Map<CallId, SubAgentWork>()
  let calls = entries.filter(({ kind }) => kind === 'model').length
  const add = (entry: TimelineEntry): void => {
    if (entries.length < MAX_ENTRIES) entries.push(attempt > 1 ? { ...entry, attempt } : entry)
  }

  return {
    entries: () => entries,
    watch: (client) => ({
      async *stream(request) {
        const record = beginCall(() => request.signal.aborted, add, dependencies)
        const exchanges: ProviderExchange[] = []
        calls += 1
        const number = calls
        const watched = { ...request, prose: noticingOutput(request.prose, record.noteOutput) }
        for await (const event of client.stream(
          runRecord === undefined ? watched : { ...watched, exchanges },
        )) {
          const ended = record.add(event)
          if (ended !== undefined) {
            runRecord?.addCall(number, exchanges)
            await ended
          }
          yield event
        }
      },
    }),
    addSubAgentWork(callId, work) {
      if (work !== undefined) works.set(callId, addWork(works.get(callId) ?? NO_WORK, work))
    },
    addToolCall(result) {
      const { id } = result.call
      const work = works.get(id)
      works.delete(id)
      const entry = toolEntry(result, now())
      add(work === undefined ? entry : { ...entry, sub_agents: work })
    },
  }
}

/**
 * Gathers what the events of one model call report, until its last event.
 * @param add receives the entry of the call.
 */
function beginCall(
  isAborted: () => boolean,
  add: (entry: TimelineModelCall) => void,
  { model, now, costOf }: TimelineDependencies,
) {
  const start = now()
  const elapsed = (): number => Math.max(0, now().getTime() - start.getTime())
  let firstOutput: number | null = null
  let toolCalls = 0
  const retries: TimelineModelCall['retries'] = []
  const end = async (
    outcome: TimelineModelCall['outcome'],
    answered: string,
    usage: TokenCounts,
    estimated: boolean,
  ): Promise<void> => {
    const duration = elapsed()
    add({
      kind: 'model',
      started_at: start.toISOString(),
      duration_ms: duration,
      model: answered,
      first_output_ms: firstOutput,
      outcome,
      tool_calls: toolCalls,
      prompt_tokens: usage.prompt_tokens,
      completion_tokens: usage.completion_tokens,
      cached_tokens: usage.cached_tokens ?? 0,
      cache_write_tokens: usage.cache_write_tokens ?? 0,
      reasoning_tokens: usage.reasoning_tokens ?? 0,
      estimated,
      cost: await costOf(answered, usage),
      retries,
    })
  }
  const noteOutput = (): void => {
    firstOutput ??= elapsed()
  }
  return {
    noteOutput,
    /** Returns a promise for the last event: the entry of the call is added when it resolves. */
    add(event: LlmEvent): Promise<void> | undefined {
      switch (event.type) {
        case 'retrying':
          retries.push({
            after_ms: elapsed(),
            delay_ms: Math.round(event.delayMs),
            reason: event.error.reason,
            ...(event.nextModel === undefined ? {} : { next_model: event.nextModel }),
          })
          return undefined
        case 'tool_call':
          toolCalls += 1
          noteOutput()
          return undefined
        case 'finished':
          return end('finished', event.model || model, event.usage, event.estimated)
        case 'failed': {
          const outcome = isAborted() ? 'stopped' : 'failed'
          return end(outcome, model, event.usage ?? NO_TOKENS, false)
        }
      }
    },
  }
}

function toolEntry({ call, success, skipped, ran }: CallResult, end: Date): TimelineToolCall {
  return {
    kind: 'tool',
    started_at: new Date(end.getTime() - ran.durationMs).toISOString(),
    duration_ms: ran.durationMs,
    id_ref: call.id,
    name: call.name,
    success,
    skipped,
    cached: ran.reused,
  }
}
