// Reads the events of a Messages API stream, or a whole message: content blocks, usage, the reason of the end.
import { newId } from '../../lib/ids.ts'
import { asRecord, asText } from '../../lib/records.ts'
import { CallId } from '../../protocol/ids.ts'
import type { ToolCall } from '../client.ts'
import { disorderedStream, type FailureContext, filteredAnswer } from '../failure.ts'
import { readableArguments } from '../readable-calls.ts'
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

/** More blocks than any model writes in one response. */
const MAX_BLOCKS = 1_000

interface Block {
  /** The block as it began. What arrived later is in `text` and `signature`. */
  start: Record<string, unknown>
  type: string
  text: GatheredText
  citations: unknown[]
  signature: string
  isComplete: boolean
  /** The earlier block under the same index. */
  before: Block | undefined
}

/** What the events so far say about the message. */
interface Received {
  readonly context: FailureContext
  readonly blocks: Map<number, Block>
  readonly facts: ResponseFacts
  readonly deltas: DeltaBuffer
  counts: Record<string, unknown>
  messageId: string
  /** The place of the newest block under each index: some gateways use an index again after its block has ended. */
  readonly places: Map<number, number>
}

/** Creates a reader for one response. Its carried value is the list of content blocks, to be returned unchanged. */
export function createEventReader(context: FailureContext): ResponseReader {
  const answer: Received = {
    context,
    blocks: new Map<number, Block>(),
    facts: createResponseFacts(),
    deltas: createDeltaBuffer(),
    counts: {},
    messageId: '',
    places: new Map<number, number>(),
  }
  return createJsonReader(answer.facts, answer.deltas, context, {
    readEvent: (event) => readEvent(answer, event),
    isPartOfAnswer: ({ type }) => type === 'message_start' || /^content_block/.test(asText(type)),
    calls: () =>
      inOrder(answer.blocks).flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : [])),
    carried() {
      const content = inOrder(answer.blocks).map(contentOf)
      const isNeeded =
        answer.blocks.size > 0 && (hasHidden(content) || answer.facts.finishReason === 'pause_turn')
      return isNeeded ? content : undefined
    },
    usage: () => usageOf(answer.counts),
    isEmpty: () => answer.blocks.size === 0,
  })
}

/** An event arrived twice or out of order. */
function fail(answer: Received): void {
  answer.facts.error ??= disorderedStream(answer.context)
}

function add(answer: Received, block: Block, text: string): void {
  answer.facts.size += text.length
  block.text.add(text)
  if (block.type === 'text') answer.deltas.addText(text)
  if (block.type === 'thinking') answer.deltas.addThinking(text)
}

const blockAt = (answer: Received, index: number): Block | undefined =>
  answer.blocks.get(answer.places.get(index) ?? -1)

function begin(answer: Received, index: number, start: Record<string, unknown>): void {
  const type = asText(start.type)
  const known = blockAt(answer, index)
  if (known !== undefined && !known.isComplete) {
    // Begun twice without any content in between, which says nothing.
    if (isSameBlock(known, start) && known.text.length === 0) return
    if (isSameBlock(known, start)) {
      fail(answer)
      return
    }
    known.isComplete = true
  }
  if (answer.blocks.size >= MAX_BLOCKS) return
  const signature = asText(start.signature)
  const text = createGatheredText()
  const block = { start, type, text, citations: [], signature, isComplete: false, before: known }
  let place = index
  while (answer.blocks.has(place)) place += 1
  answer.blocks.set(place, block)
  answer.places.set(index, place)
  answer.facts.size += block.signature.length + asText(start.data).length + sizeOfOthers(start)
  add(answer, block, type === 'thinking' ? asText(start.thinking) : asText(start.text))
  answer.facts.size += inputText(start).length
}

function change(answer: Received, index: number, delta: Record<string, unknown>): void {
  const block = blockAt(answer, index)
  if (block === undefined && answer.blocks.size >= MAX_BLOCKS) return
  if (block === undefined || block.isComplete) {
    fail(answer)
    return
  }
  const signature = asText(delta.signature)
  answer.facts.size += signature.length
  block.signature += signature
  if (delta.citation !== undefined) {
    answer.facts.size += JSON.stringify(delta.citation).length
    block.citations.push(delta.citation)
  }
  const thought = asText(delta.thinking)
  // Some gateways send reasoning within the block of the text. It is not part of what goes back.
  if (thought !== '' && block.type === 'text') {
    answer.facts.size += thought.length
    answer.deltas.addThinking(thought)
  }
  add(
    answer,
    block,
    asText(delta.text) || (block.type === 'text' ? '' : thought) || asText(delta.partial_json),
  )
}

function stop(answer: Received, reason: unknown, details: unknown): void {
  if (typeof reason !== 'string') return
  answer.facts.finishReason ??= reason
  if (reason !== 'refusal') return
  const message = asText(asRecord(details)?.explanation)
  if (message !== '') answer.facts.error ??= filteredAnswer(answer.context, reason, message)
}

/** A response that is not a stream, or a message that begins with blocks, as after calls from within a program. */
function readWhole(answer: Received, message: Record<string, unknown>): void {
  for (const [at, given] of (Array.isArray(message.content) ? message.content : []).entries()) {
    begin(answer, at, asRecord(given) ?? {})
    const block = blockAt(answer, at)
    if (block !== undefined) block.isComplete = true
  }
  stop(answer, message.stop_reason, message.stop_details)
}

function readEvent(answer: Received, value: Record<string, unknown>): void {
  const index = typeof value.index === 'number' ? value.index : -1
  switch (value.type) {
    case 'message_start':
      // Some gateways announce the same message again, or another one before its first block.
      if (answer.blocks.size > 0 && (answer.messageId === '' || answer.messageId !== idOf(value)))
        fail(answer)
      answer.messageId = idOf(value)
      answer.counts = { ...answer.counts, ...asRecord(asRecord(value.message)?.usage) }
      if (answer.blocks.size === 0) readWhole(answer, asRecord(value.message) ?? {})
      return
    case 'content_block_start':
      begin(answer, index, asRecord(value.content_block) ?? {})
      return
    case 'content_block_delta':
      change(answer, index, asRecord(value.delta) ?? {})
      return
    case 'content_block_stop': {
      const block = blockAt(answer, index)
      if (block === undefined || block.isComplete) return
      block.isComplete = true
      if (block.before !== undefined && isRepeated(block, block.before)) fail(answer)
      return
    }
    case 'message_delta': {
      answer.counts = { ...answer.counts, ...withoutNull(value.usage) }
      const delta = asRecord(value.delta)
      stop(answer, delta?.stop_reason, delta?.stop_details)
      return
    }
    case 'message_stop':
      answer.facts.done = true
      return
    case 'message':
      answer.counts = { ...asRecord(value.usage) }
      readWhole(answer, value)
  }
}

const idOf = (event: Record<string, unknown>): string => asText(asRecord(event.message)?.id)

const withoutNull = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(asRecord(value) ?? {}).filter(([, count]) => count !== null))

function callOf({ start, text }: Block): ToolCall {
  const id = CallId.safeParse(start.id)
  return {
    id: id.success ? id.data : CallId.parse(`call_${newId()}`),
    name: asText(start.name),
    arguments: argumentsOf(start, text.read()),
  }
}

/** The input that a block began with: the whole input of a response that is not a stream. */
function inputText(start: Record<string, unknown>): string {
  // Some gateways pass on the text of OpenAI's arguments.
  if (typeof start.input === 'string') return start.input.trim() === '{}' ? '' : start.input
  const input = asRecord(start.input)
  return input === undefined || Object.keys(input).length === 0 ? '' : JSON.stringify(input)
}

/** The input that arrived in pieces, or the one that the block began with. Both, if they differ: then nobody can tell. */
function argumentsOf(start: Record<string, unknown>, pieces: string): string {
  const whole = inputText(start)
  if (whole === '' || pieces.trim() === '') return whole === '' ? pieces : whole
  const read = readableArguments(pieces, { isCut: false })
  return read === whole || read === null ? (read ?? pieces) : `${whole}${pieces}`
}

/** Whether a block that begins is the same as the one under its index: of the same type, and with the same id. */
const isSameBlock = (known: Block, start: Record<string, unknown>): boolean =>
  known.type === asText(start.type) && asText(known.start.id) === asText(start.id)

/** Whether a block says what the earlier one under its index said: then the stream repeats itself. */
const isRepeated = (block: Block, before: Block): boolean =>
  isSameBlock(before, block.start) &&
  block.text.read().trim() !== '' &&
  block.text.read() === before.text.read()

/** The block in the form in which the API requires it back. */
function contentOf({ start, type, text, citations, signature }: Block): Record<string, unknown> {
  const written = text.read()
  if (type === 'text')
    return { ...start, text: written, ...(citations.length === 0 ? {} : { citations }) }
  if (type === 'thinking') return { ...start, thinking: written, signature }
  // Calls of the provider's own tools have an input, too.
  if (type !== 'tool_use' && asRecord(start.input) === undefined) return start
  try {
    const input: unknown = JSON.parse(argumentsOf(start, written) || '{}')
    return { ...start, input: asRecord(input) ?? { unreadable: written.slice(0, 2000) } }
  } catch {
    return { ...start, input: { unreadable: written.slice(0, 2000) } }
  }
}

/** Characters of the fields that `begin` does not count individually, such as results of the provider's own tools. */
function sizeOfOthers(start: Record<string, unknown>): number {
  const { type: _1, text: _2, thinking: _3, signature: _4, data: _5, input: _6, ...others } = start
  return Object.keys(others).length === 0 ? 0 : JSON.stringify(others).length
}

/** Whether it contains more than text and calls, which the conversation has anyway. */
const hasHidden = (content: readonly Record<string, unknown>[]): boolean =>
  content.some(({ type }) => type !== 'text' && type !== 'tool_use')

/** The API counts cached input separately; here, it is part of the prompt. */
function usageOf(counts: Record<string, unknown>): TokenCounts | null {
  const cached = readCount(counts.cache_read_input_tokens)
  const cacheWrite = readCount(counts.cache_creation_input_tokens)
  const read = readCounts({
    prompt: readCount(counts.input_tokens) + cached + cacheWrite,
    completion: readCount(counts.output_tokens),
    cached,
    cacheWrite,
    reasoning: 0,
  })
  return read === 'implausible' ? null : read
}
