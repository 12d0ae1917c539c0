import { newId } from '../../lib/ids.ts'
import { asRecord, asText } from '../../lib/records.ts'
import { CallId } from '../../protocol/ids.ts'
import type { ToolCall } from '../client.ts'
import { disorderedStream, type FailureContext, statusFailure } from '../failure.ts'
import {
  createDeltaBuffer,
  createJsonReader,
  createResponseFacts,
  inOrder,
} from '../openai/json-reader.ts'
import type { ResponseReader } from '../openai/response-reader.ts'
import { createGatheredText, type GatheredText } from '../openai/text-buffer.ts'
import { readCount, readCounts, type TokenCounts } from '../usage.ts'

/** More blocks than any model writes in one response. */
const MAX_BLOCKS = 1_000

/** The HTTP status that an error type in the stream corresponds to. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

interface Block {
  /** The block as it began. What arrived later is in `text` and `signature`. */
  start: Record<string, unknown>
  type: string
  text: GatheredText
  citations: unknown[]
  signature: string
  isComplete: boolean
}

/** Creates a reader for one response. Its carried value is the list of content blocks, to be returned unchanged. */
export function createEventReader(context: FailureContext): ResponseReader {
  const blocks = new Map<number, Block>()
  const facts = createResponseFacts()
  const deltas = createDeltaBuffer()
  let counts: Record<string, unknown> = {}
  let hasBegun = false

  /** An event arrived twice or out of order. */
  const fail = () => {
    facts.error ??= disorderedStream(context)
  }
  const add = (block: Block, text: string) => {
    facts.size += text.length
    block.text.add(text)
    if (block.type === 'text') deltas.emit('text_delta', text)
    if (block.type === 'thinking') deltas.emit('thinking_delta', text)
  }
  const begin = (index: number, start: Record<string, unknown>) => {
    if (blocks.has(index)) return fail()
    if (blocks.size >= MAX_BLOCKS) return
    const type = asText(start.type)
    const signature = asText(start.signature)
    const text = createGatheredText()
    const block = { start, type, text, citations: [], signature, isComplete: false }
    blocks.set(index, block)
    facts.size += block.signature.length + asText(start.data).length + sizeOfOthers(start)
    add(block, type === 'thinking' ? asText(start.thinking) : asText(start.text))
    const input = asRecord(start.input)
    // A response that is not a stream contains the whole input.
    if (input !== undefined && Object.keys(input).length > 0) add(block, JSON.stringify(input))
  }
  const change = (index: number, delta: Record<string, unknown>) => {
    const block = blocks.get(index)
    if (block === undefined && blocks.size >= MAX_BLOCKS) return
    if (block === undefined || block.isComplete) return fail()
    const signature = asText(delta.signature)
    facts.size += signature.length
    block.signature += signature
    if (delta.citation !== undefined) {
      facts.size += JSON.stringify(delta.citation).length
      block.citations.push(delta.citation)
    }
    add(block, asText(delta.text) || asText(delta.thinking) || asText(delta.partial_json))
  }
  const stop = (reason: unknown, details: unknown) => {
    if (typeof reason !== 'string') return
    facts.finishReason ??= reason === 'model_context_window_exceeded' ? 'length' : reason
    if (reason !== 'refusal') return
    const explanation = asText(asRecord(details)?.explanation)
    const message = explanation === '' ? 'The model declined to answer.' : explanation
    facts.error ??= statusFailure({ status: 400, body: { message } }, context)
  }

  const readEvent = (value: Record<string, unknown>): void => {
    const index = typeof value.index === 'number' ? value.index : -1
    switch (value.type) {
      case 'message_start':
        if (hasBegun) fail()
        hasBegun = true
        counts = { ...counts, ...asRecord(asRecord(value.message)?.usage) }
        return
      case 'content_block_start':
        begin(index, asRecord(value.content_block) ?? {})
        return
      case 'content_block_delta':
        change(index, asRecord(value.delta) ?? {})
        return
      case 'content_block_stop': {
        const block = blocks.get(index)
        if (block !== undefined) block.isComplete = true
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
      case 'error': {
        const fault = asRecord(value.error) ?? {}
        const status = STATUS.get(asText(fault.type)) ?? 500
        facts.error ??= statusFailure({ status, body: fault }, context)
        return
      }
      case 'message':
        counts = { ...asRecord(value.usage) }
        if (Array.isArray(value.content))
          for (const [at, block] of value.content.entries()) begin(at, asRecord(block) ?? {})
        stop(value.stop_reason, value.stop_details)
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

const withoutNull = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(asRecord(value) ?? {}).filter(([, count]) => count !== null))

function callOf({ start, text }: Block): ToolCall {
  const id = CallId.safeParse(start.id)
  return {
    id: id.success ? id.data : CallId.parse(`call_${newId()}`),
    name: asText(start.name),
    arguments: text.read(),
  }
}

/** The block in the form in which the API requires it back. */
function contentOf({ start, type, text, citations, signature }: Block): Record<string, unknown> {
  const written = text.read()
  if (type === 'text')
    return { ...start, text: written, ...(citations.length === 0 ? {} : { citations }) }
  if (type === 'thinking') return { ...start, thinking: written, signature }
  // Calls of the provider's own tools have an input, too.
  if (asRecord(start.input) === undefined) return start
  try {
    return { ...start, input: JSON.parse(written.trim() === '' ? '{}' : written) }
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
