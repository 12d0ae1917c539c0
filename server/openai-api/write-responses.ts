// Translates a run and its events into responses and their events.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { openAiCode } from '../protocol/openai/error.ts'
import type { OutputItem, ResponseObject } from '../protocol/openai/responses.ts'
import type { ReceiptCounts } from '../protocol/runs/receipt.ts'
import type { RunEvent } from '../protocol/runs/run-event.ts'
import { reasoningIn } from '../protocol/runs/run-timeline.ts'
import type { Step } from '../protocol/runs/step.ts'
import { type Usage, usageOfRun } from '../protocol/runs/usage.ts'
import { attemptOfEvent } from '../runs/log/log.ts'
import { readRunOptions, readRunState } from '../runs/state.ts'
import {
  beginItem,
  type ItemForms,
  itemFormsOf,
  outputOf,
  textPart,
  withResult,
  withText,
} from './items.ts'
import { programModelName } from './names.ts'
import { echoTools } from './offered-tools.ts'

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
  usage: CountedUsage | null,
  receipt: ReceiptCounts | undefined,
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
            code: openAiCode(end.error?.reason ?? end.error?.code ?? 'internal'),
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
    text: { format: options.format ?? { type: 'text' } },
    tool_choice:
      typeof toolChoice === 'object'
        ? { type: 'function', name: toolChoice.function.name }
        : (toolChoice ?? 'auto'),
    tools: echoTools(options.clientTools ?? [], options.searchesWeb ?? false),
    ...(options.warnings === undefined ? {} : { warnings: options.warnings }),
    top_p: null,
    usage: usage === null ? null : responseUsage(usage),
    ...(receipt === undefined ? {} : { nanoclaw: { receipt } }),
  }
}

type CountedUsage = Usage & { reasoning_tokens?: number | undefined }

/** Usage with the names of the Responses API. */
const responseUsage = (usage: CountedUsage): NonNullable<ResponseObject['usage']> => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: { cached_tokens: usage.cached_tokens },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
  total_tokens: usage.total_tokens,
})

/** The response of a run, finished or not, from its stored state. */
export const responseOf = (run: RunRow, steps: readonly Step[]): ResponseObject =>
  present(
    run,
    run,
    outputOf(run, steps, itemFormsOf(run)),
    run.endedAt === null ? null : { ...usageOfRun(run), ...reasoningIn(run.timeline ?? []) },
    run.endedAt === null ? undefined : readRunState(run.state).receipt,
  )

/** A response that is being written. */
interface Writer {
  readonly run: RunRow
  readonly forms: ItemForms
  readonly output: OutputItem[]
  /** The output index of each call that waits for its result. */
  readonly waiting: Map<string, number>
  /** The ids of all tool calls so far. */
  readonly calls: Set<string>
  /** The text or reasoning that is arriving. */
  open: { step: number; at: number; text: string } | null
}

/**
 * Writes one streamed response: returns the events for each event of the run, from its beginning and in order. Every
 * listener gets the same numbers, live or from the store. After a restart of the server, numbers continue far above the
 * earlier ones, because the interrupted text is sent again.
 */
export function createResponseWriter(
  run: RunRow,
): (event: RunEvent, eventId: number) => ResponseEvent[] {
  const forms = itemFormsOf(run)
  const writer: Writer = {
    run,
    forms,
    output: [],
    waiting: new Map(),
    calls: new Set(),
    open: null,
  }
  let next = 0
  return (event, eventId) => {
    next = Math.max(next, (attemptOfEvent(eventId) - 1) * NUMBERS_PER_ATTEMPT)
    return payloadsOf(writer, event).map((payload) => ({ ...payload, sequence_number: next++ }))
  }
}

function itemAt(writer: Writer, at: number): OutputItem {
  const item = writer.output[at]
  if (item === undefined) throw new Error(`no output item ${at}`)
  return item
}

function done(writer: Writer, at: number, item: OutputItem): Payload {
  writer.output[at] = item
  return { type: 'response.output_item.done', output_index: at, item }
}

function add(writer: Writer, item: OutputItem): { at: number; payload: Payload } {
  const at = writer.output.push(item) - 1
  return { at, payload: { type: 'response.output_item.added', output_index: at, item } }
}

function closeOpen(writer: Writer): Payload[] {
  if (writer.open === null) return []
  const { at, text } = writer.open
  writer.open = null
  const item = withText(itemAt(writer, at), text)
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
      done(writer, at, item),
    ]
  return [
    { type: 'response.output_text.done', ...place, content_index: 0, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, content_index: 0, part: textPart(text) },
    done(writer, at, item),
  ]
}

function appendText(
  writer: Writer,
  index: number,
  type: 'text' | 'thinking',
  text: string,
): Payload[] {
  const payloads: Payload[] = []
  if (writer.open?.step !== index) {
    payloads.push(...closeOpen(writer))
    const added = add(writer, beginItem(writer.run, { type, index }, writer.forms))
    writer.open = { step: index, at: added.at, text: '' }
    const place = { item_id: itemAt(writer, added.at).id, output_index: added.at }
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
  writer.open.text += text
  if (text === '') return payloads
  const place = { item_id: itemAt(writer, writer.open.at).id, output_index: writer.open.at }
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

/** The events in which the input of a call arrives, whole. */
function callEvents(item: OutputItem, at: number): Payload[] {
  const place = { item_id: item.id, output_index: at }
  if (item.type === 'custom_tool_call')
    return [
      { type: 'response.custom_tool_call_input.delta', ...place, delta: item.input },
      { type: 'response.custom_tool_call_input.done', ...place, input: item.input },
    ]
  if (item.type !== 'function_call' && item.type !== 'mcp_call') return []
  const { type, name, arguments: text } = item
  return [
    { type: `response.${type}_arguments.delta`, ...place, delta: text },
    {
      type: `response.${type}_arguments.done`,
      ...place,
      arguments: text,
      ...(type === 'function_call' ? { name } : {}),
    },
  ]
}

/** Items of calls that the server runs: they begin and end at different times. */
const SERVER_CALLS: ReadonlySet<OutputItem['type']> = new Set(['mcp_call', 'web_search_call'])

function addCall(writer: Writer, step: Extract<Step, { type: 'tool_call' }>): Payload[] {
  const begun = beginItem(writer.run, step, writer.forms)
  const { at, payload } = add(writer, begun)
  const place = { item_id: begun.id, output_index: at }
  const item = withText(begun, step.arguments)
  const arrived = callEvents(item, at)
  if (!SERVER_CALLS.has(item.type)) return [payload, ...arrived, done(writer, at, item)]
  writer.output[at] = item
  writer.waiting.set(step.id_ref, at)
  const begins = [
    { type: `response.${item.type}.in_progress`, ...place },
    ...(item.type === 'web_search_call'
      ? [{ type: 'response.web_search_call.searching', ...place }]
      : []),
  ]
  return [payload, ...begins, ...arrived]
}

function endCall(writer: Writer, idRef: string, content: string): Payload[] {
  const at = writer.waiting.get(idRef)
  if (at === undefined) return []
  writer.waiting.delete(idRef)
  const item = withResult(itemAt(writer, at), content)
  // OpenAI's web search has no event of its own for a failure.
  const end = item.type === 'mcp_call' && item.status === 'failed' ? 'failed' : 'completed'
  const payload = { type: `response.${item.type}.${end}`, item_id: item.id, output_index: at }
  return [payload, done(writer, at, item)]
}

const endAll = (writer: Writer): Payload[] => [
  ...closeOpen(writer),
  ...[...writer.waiting.keys()].flatMap((idRef) =>
    endCall(
      writer,
      idRef,
      JSON.stringify({ success: false, error: 'The run ended before this call.' }),
    ),
  ),
]

function payloadsOf(writer: Writer, event: RunEvent): Payload[] {
  switch (event.event) {
    case 'run': {
      const started: End = { status: 'running', finishReason: null, error: null, endedAt: null }
      const response = present(writer.run, started, [], null, undefined)
      return [
        { type: 'response.created', response },
        { type: 'response.in_progress', response },
      ]
    }
    case 'step_delta':
      return appendText(writer, event.index, event.type, event.delta)
    case 'process_step': {
      const { step } = event
      if (step.type === 'tool_call') {
        // Emitted again when a grant lets it through.
        if (writer.calls.has(step.id_ref)) return []
        writer.calls.add(step.id_ref)
        return [...closeOpen(writer), ...addCall(writer, step)]
      }
      if (step.type === 'tool_result') return endCall(writer, step.id_ref, step.content)
      if (writer.open?.step !== step.index)
        return appendText(writer, step.index, step.type, step.content)
      const rest = step.content.slice(writer.open.text.length)
      return [
        ...(rest === '' ? [] : appendText(writer, step.index, step.type, rest)),
        ...closeOpen(writer),
      ]
    }
    case 'done':
    case 'error': {
      const ended = endAll(writer)
      const end: End =
        event.event === 'done'
          ? {
              status: event.finish_reason === 'stopped' ? 'stopped' : 'completed',
              finishReason: event.finish_reason,
              error: null,
              endedAt: writer.run.endedAt ?? new Date(),
            }
          : {
              status: 'failed',
              finishReason: null,
              error: event,
              endedAt: writer.run.endedAt ?? new Date(),
            }
      const usage =
        event.event === 'done' ? { ...event.usage, reasoning_tokens: event.reasoning_tokens } : null
      const receipt = event.event === 'done' ? event.receipt : undefined
      const response = present(writer.run, end, [...writer.output], usage, receipt)
      const name = response.status === 'cancelled' ? 'incomplete' : response.status
      return [...ended, { type: `response.${name}`, response }]
    }
    default:
      return []
  }
}
