import { newId } from '../../lib/ids.ts'
import { asRecord, asText, isRecord } from '../../lib/records.ts'
import { CallId } from '../../protocol/ids.ts'
import type { ToolCall } from '../client.ts'
import { disorderedStream, errorObjectFailure, type FailureContext } from '../failure.ts'
import { createDeltaBuffer } from '../openai/delta-buffer.ts'
import { createJsonReader, createResponseFacts, inOrder } from '../openai/json-reader.ts'
import type { ResponseReader } from '../openai/response-reader.ts'
import { createGatheredText, type GatheredText } from '../openai/text-buffer.ts'
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

/**
 * Creates a reader for one response. Its carried value is the list of output items, to be returned unchanged and in order.
 */
export function createResponseEventReader(context: FailureContext): ResponseReader {
  const items = new Map<number, Item>()
  const facts = createResponseFacts()
  const deltas = createDeltaBuffer()
  let usage: TokenCounts | null = null
  let isCompleted = false

  const count = (item: Item | undefined, length: number) => {
    facts.size += length
    if (item !== undefined) item.size += length
  }
  /** The place of the newest item under each `output_index`, or under each id where there is no index. */
  const places = new Map<number | string, number>()
  let lastPlace = -1
  const placeOf = (name: number | string): number => places.get(name) ?? lastPlace
  const begin = (
    name: number | string,
    value: Record<string, unknown>,
    isAdded = false,
  ): number | undefined => {
    const known = places.get(name)
    const item = known === undefined ? undefined : items.get(known)
    // A call has an id, so that one that begins again is known; a text that begins after an end is another one.
    const isNext = isAdded && item?.done === true && asText(value.call_id) === ''
    if (item !== undefined && !isNext && !isAnother(item.value, value)) return known
    if (items.size >= MAX_ITEMS) return undefined
    let place = typeof name === 'number' ? name : items.size
    while (items.has(place)) place += 1
    items.set(place, {
      value,
      done: false,
      arguments: createGatheredText(),
      size: 0,
      part: undefined,
    })
    places.set(name, place)
    lastPlace = place
    return place
  }
  const delta = (
    type: 'text_delta' | 'thinking_delta',
    name: number | string,
    event: Record<string, unknown>,
  ) => {
    const text = asText(event.delta)
    // Some gateways do not announce the item, and repeat its text at the end.
    if (items.size === 0) begin(name, { type: type === 'text_delta' ? 'message' : 'reasoning' })
    const item = items.get(placeOf(name))
    const add = type === 'text_delta' ? deltas.addText : deltas.addThinking
    count(item, text.length)
    const part = event.summary_index ?? event.content_index
    // Each part of a summary is a paragraph.
    if (item?.part !== undefined && item.part !== part && type === 'thinking_delta') add('\n\n')
    if (item !== undefined) item.part = part
    add(text)
  }
  /** Handles the complete item. Emits its text if it did not arrive in pieces. */
  const complete = (place: number | undefined, value: Record<string, unknown>) => {
    const item = place === undefined ? undefined : items.get(place)
    if (place === undefined || item === undefined || item.done) return
    if (item.size === 0) {
      if (value.type === 'reasoning') deltas.addThinking(textsOf(value.summary, value.content))
      if (value.type === 'message') deltas.addText(textsOf(value.content))
    }
    facts.size += Math.max(0, JSON.stringify(value).length - item.size)
    items.set(place, { ...item, value, done: true })
  }
  /** Completes the items from the final list, where each of them has its place, whatever names its events had. */
  const completeAll = (output: readonly Record<string, unknown>[]) => {
    const left = new Map(items)
    for (const [index, value] of output.entries()) {
      const at = left.get(index)
      const own = at !== undefined && !isAnother(at.value, value) ? index : undefined
      const found =
        own ?? [...left].find(([, item]) => !isAnother(item.value, value))?.[0] ?? undefined
      const place = found ?? begin(`output ${index}`, value)
      if (place !== undefined) left.delete(place)
      complete(place, value)
    }
  }
  const end = (response: Record<string, unknown>) => {
    usage = usageOf(response.usage) ?? usage
    if (response.status === 'failed' || response.status === 'cancelled') {
      facts.error ??= errorObjectFailure(response.error ?? response, context)
      return
    }
    if (Array.isArray(response.output)) completeAll(response.output.filter(isRecord))
    facts.done = true
    isCompleted = response.status !== 'incomplete'
    const reason = asText(asRecord(response.incomplete_details)?.reason)
    facts.finishReason = isCompleted ? 'stop' : reason === 'max_output_tokens' ? 'length' : reason
  }

  let lastNumber = 0
  let isFirstRepeated = false
  let hasOthers = false
  /** Events are numbered. Some gateways omit the numbers or repeat one number; in other streams, numbers only increase. */
  const isInOrder = ({ sequence_number: number }: Record<string, unknown>): boolean => {
    if (typeof number !== 'number' || number <= 0) return true
    if (lastNumber === 0) lastNumber = number
    else if (number === lastNumber && !hasOthers) isFirstRepeated = true
    else {
      if (number <= lastNumber || isFirstRepeated) return false
      hasOthers = true
      lastNumber = number
    }
    return true
  }

  const readEvent = (event: Record<string, unknown>): void => {
    if (!isInOrder(event)) {
      facts.error ??= disorderedStream(context)
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
        end(event)
        return
      case 'response.output_item.added':
        begin(name, item ?? {}, true)
        facts.size += JSON.stringify(event.item ?? null).length
        return
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        delta('text_delta', name, event)
        return
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        delta('thinking_delta', name, event)
        return
      case 'response.function_call_arguments.delta':
        items.get(placeOf(name))?.arguments.add(asText(event.delta))
        count(items.get(placeOf(name)), asText(event.delta).length)
        return
      case 'response.function_call_arguments.done': {
        const open = items.get(placeOf(name))
        if (open !== undefined && !open.done && asText(event.arguments) !== '')
          open.value = { ...open.value, arguments: asText(event.arguments) }
        return
      }
      case 'response.output_item.done':
        complete(begin(name, item ?? {}), item ?? {})
        return
      case 'response.done':
        end({ status: 'completed', ...asRecord(event.response) })
        return
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        end({ status: type.slice('response.'.length), ...asRecord(event.response) })
        return
    }
  }
  return createJsonReader(facts, deltas, context, {
    readEvent,
    isPartOfAnswer: ({ type }) => /^response\.(created|output_item|.*delta$)/.test(asText(type)),
    calls: () => inOrder(items).flatMap((item) => callOf(item) ?? []),
    carried() {
      // A response that was cut off may contain an incomplete item, which must not be sent back.
      const all = inOrder(items)
      if (!isCompleted || !all.every((item) => item.done)) return undefined
      const values = all.map(({ value }) => value).filter(mayGoBack)
      return values.some(isHidden) ? values : undefined
    },
    usage: () => usage,
    isEmpty: () =>
      deltas.isUnused && ![...items.values()].some(({ value }) => value.type === 'function_call'),
  })
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
