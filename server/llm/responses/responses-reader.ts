// Reads the events of a Responses API stream, or a whole response: output items, usage, the reason of the end.
import { newId } from '../../lib/ids.ts'
import { asRecord, asText, isRecord } from '../../lib/records.ts'
import { CallId } from '../../protocol/ids.ts'
import type { ToolCall } from '../client.ts'
import { disorderedStream, errorObjectFailure, type FailureContext } from '../failure.ts'
import { createDeltaBuffer, type DeltaBuffer } from '../streaming/delta-buffer.ts'
import {
  createJsonReader,
  createResponseFacts,
  inOrder,
  type ResponseFacts,
} from '../streaming/json-reader.ts'
import type { ResponseReader } from '../streaming/response-reader.ts'
import { createGatheredText, type GatheredText } from '../streaming/text-buffer.ts'
import { readCount, readCounts, type TokenCounts } from '../usage.ts'

/** More items than any model writes in one response. */
const MAX_ITEMS = 1_000

/**
 * An output item. `output_index` identifies it, because some services change the id of an item from event to event. Gateways
 * that send no index are read by the ids, and a further item under a known index is another one.
 */
interface Item {
  /** The item as it began or, once it is `done`, as it ended. */
  value: Record<string, unknown>
  done: boolean
  /** Arguments of a call, in pieces. */
  arguments: GatheredText
  /** Number of its characters that were read. */
  size: number
  /** The part of a summary that the last delta belonged to. */
  part: unknown
}

/** What the events so far say about the response. */
interface Received {
  readonly context: FailureContext
  readonly items: Map<number, Item>
  readonly facts: ResponseFacts
  readonly deltas: DeltaBuffer
  usage: TokenCounts | null
  isCompleted: boolean
  /** The place of the newest item under each `output_index`, or under each id where there is no index. */
  readonly places: Map<number | string, number>
  lastPlace: number
  /** The numbers of the events: the newest, whether the first came several times, and whether others came. */
  lastNumber: number
  isFirstRepeated: boolean
  hasOthers: boolean
}

/**
 * Creates a reader for one response. Its carried value is the list of output items, to be returned unchanged and in order.
 */
export function createResponseEventReader(context: FailureContext): ResponseReader {
  const answer: Received = {
    context,
    items: new Map<number, Item>(),
    facts: createResponseFacts(),
    deltas: createDeltaBuffer(),
    usage: null,
    isCompleted: false,
    places: new Map<number | string, number>(),
    lastPlace: -1,
    lastNumber: 0,
    isFirstRepeated: false,
    hasOthers: false,
  }
  return createJsonReader(answer.facts, answer.deltas, context, {
    readEvent: (event) => readEvent(answer, event),
    isPartOfAnswer: ({ type }) => /^response\.(created|output_item|.*delta$)/.test(asText(type)),
    calls: () => inOrder(answer.items).flatMap((item) => callOf(item) ?? []),
    carried() {
      // A response that was cut off may contain an incomplete item, which must not be sent back.
      const all = inOrder(answer.items)
      if (!answer.isCompleted || !all.every((item) => item.done)) return undefined
      const values = all.map(({ value }) => value).filter(mayGoBack)
      return values.some(isHidden) ? values : undefined
    },
    usage: () => answer.usage,
    isEmpty: () =>
      answer.deltas.isUnused &&
      ![...answer.items.values()].some(({ value }) => value.type === 'function_call'),
  })
}

function count(answer: Received, item: Item | undefined, length: number): void {
  answer.facts.size += length
  if (item !== undefined) item.size += length
}

const placeOf = (answer: Received, name: number | string): number =>
  answer.places.get(name) ?? answer.lastPlace

function begin(
  answer: Received,
  name: number | string,
  value: Record<string, unknown>,
  isAdded = false,
): number | undefined {
  const known = answer.places.get(name)
  const item = known === undefined ? undefined : answer.items.get(known)
  // A call has an id, so that one that begins again is known; a text that begins after an end is another one.
  const isNext = isAdded && item?.done === true && asText(value.call_id) === ''
  if (item !== undefined && !isNext && !isAnother(item.value, value)) return known
  if (answer.items.size >= MAX_ITEMS) return undefined
  let place = typeof name === 'number' ? name : answer.items.size
  while (answer.items.has(place)) place += 1
  answer.items.set(place, {
    value,
    done: false,
    arguments: createGatheredText(),
    size: 0,
    part: undefined,
  })
  answer.places.set(name, place)
  answer.lastPlace = place
  return place
}

function delta(
  answer: Received,
  type: 'text_delta' | 'thinking_delta',
  name: number | string,
  event: Record<string, unknown>,
): void {
  const text = asText(event.delta)
  // Some gateways do not announce the item, and repeat its text at the end.
  if (answer.items.size === 0)
    begin(answer, name, { type: type === 'text_delta' ? 'message' : 'reasoning' })
  const item = answer.items.get(placeOf(answer, name))
  const add = type === 'text_delta' ? answer.deltas.addText : answer.deltas.addThinking
  count(answer, item, text.length)
  const part = event.summary_index ?? event.content_index
  // Each part of a summary is a paragraph.
  if (item?.part !== undefined && item.part !== part && type === 'thinking_delta') add('\n\n')
  if (item !== undefined) item.part = part
  add(text)
}

/** Handles the complete item. Emits its text if it did not arrive in pieces. */
function complete(
  answer: Received,
  place: number | undefined,
  value: Record<string, unknown>,
): void {
  const item = place === undefined ? undefined : answer.items.get(place)
  if (place === undefined || item === undefined || item.done) return
  if (item.size === 0) {
    if (value.type === 'reasoning') answer.deltas.addThinking(textsOf(value.summary, value.content))
    if (value.type === 'message') answer.deltas.addText(textsOf(value.content))
  }
  answer.facts.size += Math.max(0, JSON.stringify(value).length - item.size)
  answer.items.set(place, { ...item, value, done: true })
}

/** Completes the items from the final list, where each of them has its place, whatever names its events had. */
function completeAll(answer: Received, output: readonly Record<string, unknown>[]): void {
  const left = new Map(answer.items)
  for (const [index, value] of output.entries()) {
    const at = left.get(index)
    const own = at !== undefined && !isAnother(at.value, value) ? index : undefined
    const found =
      own ?? [...left].find(([, item]) => !isAnother(item.value, value))?.[0] ?? undefined
    const place = found ?? begin(answer, `output ${index}`, value)
    if (place !== undefined) left.delete(place)
    complete(answer, place, value)
  }
}

function end(answer: Received, response: Record<string, unknown>): void {
  answer.usage = usageOf(response.usage) ?? answer.usage
  if (response.status === 'failed' || response.status === 'cancelled') {
    answer.facts.error ??= errorObjectFailure(response.error ?? response, answer.context)
    return
  }
  if (Array.isArray(response.output)) completeAll(answer, response.output.filter(isRecord))
  answer.facts.done = true
  answer.isCompleted = response.status !== 'incomplete'
  const reason = asText(asRecord(response.incomplete_details)?.reason)
  answer.facts.finishReason = answer.isCompleted
    ? 'stop'
    : reason === 'max_output_tokens'
      ? 'length'
      : reason
}

/** Events are numbered. Some gateways omit the numbers or repeat one number; in other streams, numbers only increase. */
function isInOrder(
  answer: Received,
  { sequence_number: number }: Record<string, unknown>,
): boolean {
  if (typeof number !== 'number' || number <= 0) return true
  if (answer.lastNumber === 0) answer.lastNumber = number
  else if (number === answer.lastNumber && !answer.hasOthers) answer.isFirstRepeated = true
  else {
    if (number <= answer.lastNumber || answer.isFirstRepeated) return false
    answer.hasOthers = true
    answer.lastNumber = number
  }
  return true
}

function readEvent(answer: Received, event: Record<string, unknown>): void {
  if (!isInOrder(answer, event)) {
    answer.facts.error ??= disorderedStream(answer.context)
    return
  }
  const item = asRecord(event.item)
  const name =
    typeof event.output_index === 'number'
      ? event.output_index
      : asText(event.item_id) || asText(item?.id) || asText(item?.call_id)
  const type = event.object === 'response' ? 'response' : event.type
  switch (type) {
    case 'response':
      end(answer, event)
      return
    case 'response.output_item.added':
      begin(answer, name, item ?? {}, true)
      answer.facts.size += JSON.stringify(event.item ?? null).length
      return
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      delta(answer, 'text_delta', name, event)
      return
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      delta(answer, 'thinking_delta', name, event)
      return
    case 'response.function_call_arguments.delta':
      answer.items.get(placeOf(answer, name))?.arguments.add(asText(event.delta))
      count(answer, answer.items.get(placeOf(answer, name)), asText(event.delta).length)
      return
    case 'response.function_call_arguments.done': {
      const open = answer.items.get(placeOf(answer, name))
      if (open !== undefined && !open.done && asText(event.arguments) !== '')
        open.value = { ...open.value, arguments: asText(event.arguments) }
      return
    }
    case 'response.output_item.done':
      complete(answer, begin(answer, name, item ?? {}), item ?? {})
      return
    case 'response.done':
      end(answer, { status: 'completed', ...asRecord(event.response) })
      return
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      end(answer, { status: type.slice('response.'.length), ...asRecord(event.response) })
      return
  }
}

/** Whether these are two items: of different types, or calls with different ids. */
function isAnother(known: Record<string, unknown>, value: Record<string, unknown>): boolean {
  const [type, otherType] = [asText(known.type), asText(value.type)]
  if (type !== '' && otherType !== '' && type !== otherType) return true
  const [id, otherId] = [asText(known.call_id), asText(value.call_id)]
  return id !== '' && otherId !== '' && id !== otherId
}

/** The texts of lists of parts, as paragraphs. */
const textsOf = (...lists: unknown[]): string =>
  lists
    .flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
    .map((part) => asText(asRecord(part)?.text) || asText(asRecord(part)?.refusal))
    .filter((text) => text !== '')
    .join('\n\n')

function callOf({ value, arguments: pieces }: Item): ToolCall | undefined {
  const name = asText(value.name)
  if (value.type !== 'function_call' || name === '') return undefined
  const id = CallId.safeParse(value.call_id)
  return {
    id: id.success ? id.data : CallId.parse(`call_${newId()}`),
    name,
    arguments: argumentsOf(asText(value.arguments), pieces.read()),
  }
}

/** An item may begin, and even end, with an empty object although its arguments arrived in pieces. */
const argumentsOf = (whole: string, pieces: string): string =>
  whole.trim() === '{}' ? pieces || whole : whole || pieces

/** Reasoning that is neither encrypted nor in words means nothing to a service that stored nothing. */
const mayGoBack = ({ type, encrypted_content, content }: Record<string, unknown>): boolean =>
  type !== 'reasoning' ||
  asText(encrypted_content) !== '' ||
  (Array.isArray(content) && content.length > 0)

/** Whether it contains more than text and calls, which the conversation has anyway. */
const isHidden = ({ type, phase }: Record<string, unknown>): boolean =>
  (type !== 'message' && type !== 'function_call') || asText(phase) !== ''

/** Cached input is part of the input; reasoning is part of the output. */
function usageOf(value: unknown): TokenCounts | null {
  const counts = asRecord(value)
  const inInput = asRecord(counts?.input_tokens_details)
  const read = readCounts({
    prompt: readCount(counts?.input_tokens),
    completion: readCount(counts?.output_tokens),
    cached: readCount(inInput?.cached_tokens),
    cacheWrite: readCount(inInput?.cache_write_tokens),
    reasoning: readCount(asRecord(counts?.output_tokens_details)?.reasoning_tokens),
  })
  return read === 'implausible' ? null : read
}
