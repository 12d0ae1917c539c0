// Translates a run and its events into responses and their events.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { OutputItem, ResponseObject } from '../protocol/openai/responses.ts'
import type { RunEvent } from '../protocol/runs/run-event.ts'
import { reasoningIn } from '../protocol/runs/run-timeline.ts'
import type { Step } from '../protocol/runs/step.ts'
import { usageOfRun } from '../protocol/runs/usage.ts'
import { attemptOfEvent } from '../runs/log/event-ids.ts'
import { readRunOptions } from '../runs/state.ts'
import { beginItem, outcomeOf, outputOf, textPart, withText } from './items.ts'
import { programModelName } from './names.ts'
import { responseUsage } from './response-usage.ts'
import { clientToolNames } from './run-text.ts'

/** An event of a streamed response, without its number. */
type Payload = { type: string } & Record<string, unknown>
/** An event of the Responses API. Numbers count from 0 within a response. */
export type ResponseEvent = Payload & { sequence_number: number }

/** Larger than the number of events in one attempt of a run. */
const NUMBERS_PER_ATTEMPT = 10_000_000

type End = Pick<RunRow, 'status' | 'finishReason' | 'error' | 'endedAt'>

const seconds = (time: Date): number => Math.floor(time.getTime() / 1_000)

function statusOf({ status, finishReason, endedAt }: End): ResponseObject['status'] {
  if (endedAt === null) return 'in_progress'
  if (status === 'failed' || status === 'interrupted') return 'failed'
  if (status === 'stopped' || finishReason === 'stopped') return 'cancelled'
  return finishReason === 'stop' || finishReason === 'tool_calls' ? 'completed' : 'incomplete'
}

function present(
  run: RunRow,
  end: End,
  output: OutputItem[],
  usage: Parameters<typeof responseUsage>[0] | null,
): ResponseObject {
  const options = readRunOptions(run.options)
  const { response } = options
  const status = statusOf(end)
  const { toolChoice } = options
  return {
    id: run.id,
    object: 'response',
    created_at: seconds(run.createdAt),
    completed_at: end.endedAt === null ? null : seconds(end.endedAt),
    status,
    background: response?.background ?? false,
    error:
      status === 'failed'
        ? {
            code: end.error?.reason ?? end.error?.code ?? 'internal',
            message: end.error?.content ?? 'The run was interrupted.',
          }
        : null,
    incomplete_details:
      status === 'incomplete'
        ? {
            reason: end.finishReason === 'max_iterations' ? 'max_tool_calls' : 'max_output_tokens',
          }
        : null,
    instructions: response?.instructions ?? null,
    max_output_tokens: response?.maxTokens ?? null,
    metadata: { ...response?.metadata },
    model: programModelName(run.model),
    output,
    parallel_tool_calls: true,
    previous_response_id: response?.previousId ?? null,
    store: response?.isStored ?? true,
    temperature: response?.temperature ?? null,
    text: { format: { type: 'text' } },
    tool_choice:
      typeof toolChoice === 'object'
        ? { type: 'function', name: toolChoice.function.name }
        : (toolChoice ?? 'auto'),
    tools: (options.clientTools ?? []).map((tool) => ({
      type: 'function' as const,
      ...tool,
      strict: false,
    })),
    top_p: null,
    usage: usage === null ? null : responseUsage(usage),
  }
}

/** The response of a run, finished or not, from its stored state. */
export const responseOf = (run: RunRow, steps: readonly Step[]): ResponseObject =>
  present(
    run,
    run,
    outputOf(run, steps, clientToolNames(run)),
    run.endedAt === null ? null : { ...usageOfRun(run), ...reasoningIn(run.timeline ?? []) },
  )

/**
 * Writes one streamed response: returns the events for each event of the run, from its beginning and in order. Every
 * listener gets the same numbers, live or from the store. After a restart of the server, numbers continue far above the
 * earlier ones, because the interrupted text is sent again.
 */
export function createResponseWriter(
  run: RunRow,
): (event: RunEvent, eventId: number) => ResponseEvent[] {
  const clientTools = clientToolNames(run)
  const output: OutputItem[] = []
  /** The output index of each call that waits for its result. */
  const waiting = new Map<string, number>()
  let open: { step: number; at: number; text: string } | null = null
  let next = 0

  const itemAt = (at: number): OutputItem => {
    const item = output[at]
    if (item === undefined) throw new Error(`no output item ${at}`)
    return item
  }
  const done = (at: number, item: OutputItem): Payload => {
    output[at] = item
    return { type: 'response.output_item.done', output_index: at, item }
  }
  const add = (item: OutputItem): { at: number; payload: Payload } => {
    const at = output.push(item) - 1
    return { at, payload: { type: 'response.output_item.added', output_index: at, item } }
  }

  const closeOpen = (): Payload[] => {
    if (open === null) return []
    const { at, text } = open
    open = null
    const item = withText(itemAt(at), text)
    const place = { item_id: item.id, output_index: at }
    if (item.type === 'reasoning')
      return [
        { type: 'response.reasoning_summary_text.done', ...place, summary_index: 0, text },
        {
          type: 'response.reasoning_summary_part.done',
          ...place,
          summary_index: 0,
          part: { type: 'summary_text', text },
        },
        done(at, item),
      ]
    return [
      { type: 'response.output_text.done', ...place, content_index: 0, text, logprobs: [] },
      { type: 'response.content_part.done', ...place, content_index: 0, part: textPart(text) },
      done(at, item),
    ]
  }

  const appendText = (index: number, type: 'text' | 'thinking', text: string): Payload[] => {
    const payloads: Payload[] = []
    if (open?.step !== index) {
      payloads.push(...closeOpen())
      const added = add(beginItem(run, { type, index }, clientTools))
      open = { step: index, at: added.at, text: '' }
      const place = { item_id: itemAt(added.at).id, output_index: added.at }
      payloads.push(
        added.payload,
        type === 'thinking'
          ? {
              type: 'response.reasoning_summary_part.added',
              ...place,
              summary_index: 0,
              part: { type: 'summary_text', text: '' },
            }
          : {
              type: 'response.content_part.added',
              ...place,
              content_index: 0,
              part: textPart(''),
            },
      )
    }
    open.text += text
    if (text === '') return payloads
    const place = { item_id: itemAt(open.at).id, output_index: open.at }
    payloads.push(
      type === 'thinking'
        ? {
            type: 'response.reasoning_summary_text.delta',
            ...place,
            summary_index: 0,
            delta: text,
          }
        : {
            type: 'response.output_text.delta',
            ...place,
            content_index: 0,
            delta: text,
            logprobs: [],
          },
    )
    return payloads
  }

  const addCall = (step: Extract<Step, { type: 'tool_call' }>): Payload[] => {
    const begun = beginItem(run, step, clientTools)
    const { at, payload } = add(begun)
    const place = { item_id: begun.id, output_index: at }
    const kind = begun.type === 'function_call' ? 'function_call' : 'mcp_call'
    const item = withText(begun, step.arguments)
    const payloads: Payload[] = [
      payload,
      ...(kind === 'mcp_call' ? [{ type: 'response.mcp_call.in_progress', ...place }] : []),
      { type: `response.${kind}_arguments.delta`, ...place, delta: step.arguments },
      {
        type: `response.${kind}_arguments.done`,
        ...place,
        arguments: step.arguments,
        ...(kind === 'function_call' ? { name: step.name } : {}),
      },
    ]
    if (kind === 'function_call') return [...payloads, done(at, item)]
    output[at] = item
    waiting.set(step.id_ref, at)
    return payloads
  }

  const endCall = (idRef: string, content: string): Payload[] => {
    const at = waiting.get(idRef)
    const item = at === undefined ? undefined : itemAt(at)
    if (at === undefined || item?.type !== 'mcp_call') return []
    waiting.delete(idRef)
    const outcome = outcomeOf(content)
    return [
      {
        type:
          outcome.status === 'failed' ? 'response.mcp_call.failed' : 'response.mcp_call.completed',
        item_id: item.id,
        output_index: at,
      },
      done(at, { ...item, ...outcome }),
    ]
  }

  const endAll = (): Payload[] => [
    ...closeOpen(),
    ...[...waiting.keys()].flatMap((idRef) =>
      endCall(idRef, JSON.stringify({ success: false, error: 'The run ended before this call.' })),
    ),
  ]

  const payloadsOf = (event: RunEvent): Payload[] => {
    switch (event.event) {
      case 'run': {
        const started: End = { status: 'running', finishReason: null, error: null, endedAt: null }
        const response = present(run, started, [], null)
        return [
          { type: 'response.created', response },
          { type: 'response.in_progress', response },
        ]
      }
      case 'step_delta':
        return appendText(event.index, event.type, event.delta)
      case 'process_step': {
        const { step } = event
        if (step.type === 'tool_call') return [...closeOpen(), ...addCall(step)]
        if (step.type === 'tool_result') return endCall(step.id_ref, step.content)
        if (open?.step !== step.index) return appendText(step.index, step.type, step.content)
        const rest = step.content.slice(open.text.length)
        return [...(rest === '' ? [] : appendText(step.index, step.type, rest)), ...closeOpen()]
      }
      case 'done':
      case 'error': {
        const ended = endAll()
        const end: End =
          event.event === 'done'
            ? {
                status: event.finish_reason === 'stopped' ? 'stopped' : 'completed',
                finishReason: event.finish_reason,
                error: null,
                endedAt: run.endedAt ?? new Date(),
              }
            : {
                status: 'failed',
                finishReason: null,
                error: event,
                endedAt: run.endedAt ?? new Date(),
              }
        const usage =
          event.event === 'done'
            ? { ...event.usage, reasoning_tokens: event.reasoning_tokens }
            : null
        const response = present(run, end, [...output], usage)
        const name = response.status === 'cancelled' ? 'incomplete' : response.status
        return [...ended, { type: `response.${name}`, response }]
      }
      default:
        return []
    }
  }

  return (event, eventId) => {
    next = Math.max(next, (attemptOfEvent(eventId) - 1) * NUMBERS_PER_ATTEMPT)
    return payloadsOf(event).map((payload) => ({ ...payload, sequence_number: next++ }))
  }
}
