import { newId } from '../../lib/ids.ts'
import { asRecord, asText } from '../../lib/records.ts'
import { CallId } from '../../protocol/ids.ts'
import type { ToolCall } from '../client.ts'
import { disorderedStream, type FailureContext, filteredAnswer } from '../failure.ts'
import { createDeltaBuffer } from '../openai/delta-buffer.ts'
import { createJsonReader, createResponseFacts, inOrder } from '../openai/json-reader.ts'
import type { ResponseReader } from '../openai/response-reader.ts'
import { createGatheredText, type GatheredText } from '../openai/text-buffer.ts'
import { readableArguments } from '../readable-calls.ts'
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

/** Creates a reader for one response. Its carried value is the list of content blocks, to be returned unchanged. */
export function createEventReader(context: FailureContext): ResponseReader {
  const blocks = new Map<number, Block>()
  const facts = createResponseFacts()
  const deltas = createDeltaBuffer()
  let counts: Record<string, unknown> = {}
  let messageId = ''

  /** An event arrived twice or out of order. */
  const fail = () => {
    facts.error ??= disorderedStream(context)
  }
  const add = (block: Block, text: string) => {
    facts.size += text.length
    block.text.add(text)
    if (block.type === 'text') deltas.addText(text)
    if (block.type === 'thinking') deltas.addThinking(text)
  }
  /** The place of the newest block under each index: some gateways use an index again after its block has ended. */
  const places = new Map<number, number>()
  const blockAt = (index: number): Block | undefined => blocks.get(places.get(index) ?? -1)
  const begin = (index: number, start: Record<string, unknown>) => {
    const type = asText(start.type)
    const known = blockAt(index)
    if (known !== undefined && !known.isComplete) {
      // Begun twice without any content in between, which says nothing.
      if (isSameBlock(known, start) && known.text.length === 0) return
      if (isSameBlock(known, start)) return fail()
      known.isComplete = true
    }
    if (blocks.size >= MAX_BLOCKS) return
    const signature = asText(start.signature)
    const text = createGatheredText()
    const block = { start, type, text, citations: [], signature, isComplete: false, before: known }
    let place = index
    while (blocks.has(place)) place += 1
    blocks.set(place, block)
    places.set(index, place)
    facts.size += block.signature.length + asText(start.data).length + sizeOfOthers(start)
    add(block, type === 'thinking' ? asText(start.thinking) : asText(start.text))
    facts.size += inputText(start).length
  }
  const change = (index: number, delta: Record<string, unknown>) => {
    const block = blockAt(index)
    if (block === undefined && blocks.size >= MAX_BLOCKS) return
    if (block === undefined || block.isComplete) return fail()
    const signature = asText(delta.signature)
    facts.size += signature.length
    block.signature += signature
    if (delta.citation !== undefined) {
      facts.size += JSON.stringify(delta.citation).length
      block.citations.push(delta.citation)
    }
    const thought = asText(delta.thinking)
    // Some gateways send reasoning within the block of the text. It is not part of what goes back.
    if (thought !== '' && block.type === 'text') {
      facts.size += thought.length
      deltas.addThinking(thought)
    }
    add(
      block,
      asText(delta.text) || (block.type === 'text' ? '' : thought) || asText(delta.partial_json),
    )
  }
  const stop = (reason: unknown, details: unknown) => {
    if (typeof reason !== 'string') return
    facts.finishReason ??= reason
    if (reason !== 'refusal') return
    const message = asText(asRecord(details)?.explanation)
    if (message !== '') facts.error ??= filteredAnswer(context, reason, message)
  }

  /** A response that is not a stream, or a message that begins with blocks, as after calls from within a program. */
  const readWhole = (message: Record<string, unknown>) => {
    for (const [at, given] of (Array.isArray(message.content) ? message.content : []).entries()) {
      begin(at, asRecord(given) ?? {})
      const block = blockAt(at)
      if (block !== undefined) block.isComplete = true
    }
    stop(message.stop_reason, message.stop_details)
  }

  const readEvent = (value: Record<string, unknown>): void => {
    const index = typeof value.index === 'number' ? value.index : -1
    switch (value.type) {
      case 'message_start':
        // Some gateways announce the same message again, or another one before its first block.
        if (blocks.size > 0 && (messageId === '' || messageId !== idOf(value))) fail()
        messageId = idOf(value)
        counts = { ...counts, ...asRecord(asRecord(value.message)?.usage) }
        if (blocks.size === 0) readWhole(asRecord(value.message) ?? {})
        return
      case 'content_block_start':
        begin(index, asRecord(value.content_block) ?? {})
        return
      case 'content_block_delta':
        change(index, asRecord(value.delta) ?? {})
        return
      case 'content_block_stop': {
        const block = blockAt(index)
        if (block === undefined || block.isComplete) return
        block.isComplete = true
        if (block.before !== undefined && isRepeated(block, block.before)) fail()
        return
      }
      case 'message_delta': {
        counts = { ...counts, ...withoutNull(value.usage) }
        const delta = asRecord(value.delta)
        stop(delta?.stop_reason, delta?.stop_details)
        return
      }
      case 'message_stop':
        facts.done = true
        return
      case 'message':
        counts = { ...asRecord(value.usage) }
        readWhole(value)
    }
  }
  return createJsonReader(facts, deltas, context, {
    readEvent,
    isPartOfAnswer: ({ type }) => type === 'message_start' || /^content_block/.test(asText(type)),
    calls: () =>
      inOrder(blocks).flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : [])),
    carried() {
      const content = inOrder(blocks).map(contentOf)
      const isNeeded =
        blocks.size > 0 && (hasHidden(content) || facts.finishReason === 'pause_turn')
      return isNeeded ? content : undefined
    },
    usage: () => usageOf(counts),
    isEmpty: () => blocks.size === 0,
  })
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
