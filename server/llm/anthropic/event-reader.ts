// Reads the events of a Messages API stream: text, thinking with signatures, tool calls, usage, stop reason.
import type { AppError } from '../../errors.ts'
import { newId } from '../../lib/ids.ts'
import { asRecord, isRecord } from '../../lib/records.ts'
import { MAX_TOKENS } from '../../protocol/bounds.ts'
import { CallId } from '../../protocol/ids.ts'
import type { Usage } from '../../protocol/run-event.ts'
import type { LlmEvent, ToolCall } from '../client.ts'
import { type FailureContext, statusFailure } from '../failure.ts'
import type { ResponseReader } from '../openai/response-reader.ts'
import { createGatheredText, type GatheredText } from '../openai/text-buffer.ts'
import { tokenWeight } from '../tokens.ts'

/** More than any model writes in one response. */
const MAX_BLOCKS = 1_000

/** The HTTP status that an error in the stream stands for. */
const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

interface Block {
  /** As it began; what arrived since is in `text` and `signature`. */
  start: Record<string, unknown>
  type: string
  text: GatheredText
  signature: string
}

/** A reader for one response. Its carried value is the list of content blocks, to be returned unchanged. */
export function createEventReader(context: FailureContext): ResponseReader {
  const blocks = new Map<number, Block>()
  let events: LlmEvent[] = []
  let counts: Record<string, unknown> = {}
  let done = false
  let finishReason: string | null = null
  let error: AppError | null = null
  let unreadable = 0
  let size = 0
  let textTokens = 0

  const emit = (type: 'text_delta' | 'thinking_delta', text: string) => {
    if (text === '') return
    const last = events.at(-1)
    if (last?.type === type) last.text += text
    else events.push({ type, text })
  }
  const add = (block: Block, text: string) => {
    size += text.length
    block.text.add(text)
    if (block.type === 'text') emit('text_delta', text)
    if (block.type === 'thinking') emit('thinking_delta', text)
  }
  const begin = (index: number, start: Record<string, unknown>) => {
    if (blocks.size >= MAX_BLOCKS || blocks.has(index)) return
    const type = textOf(start.type)
    const block = { start, type, text: createGatheredText(), signature: textOf(start.signature) }
    blocks.set(index, block)
    add(block, type === 'thinking' ? textOf(start.thinking) : textOf(start.text))
    const input = asRecord(start.input)
    // A response that is not a stream has its input whole.
    if (input !== undefined && Object.keys(input).length > 0) add(block, JSON.stringify(input))
  }
  const change = (index: number, delta: Record<string, unknown>) => {
    const block = blocks.get(index)
    if (block === undefined) return
    block.signature += textOf(delta.signature)
    add(block, textOf(delta.text) || textOf(delta.thinking) || textOf(delta.partial_json))
  }
  const stop = (reason: unknown, details: unknown) => {
    if (typeof reason !== 'string') return
    finishReason ??= reason === 'model_context_window_exceeded' ? 'length' : reason
    if (reason !== 'refusal') return
    const explanation = textOf(asRecord(details)?.explanation)
    const message = explanation === '' ? 'The model declined to answer.' : explanation
    error ??= statusFailure({ status: 400, body: { message } }, context)
  }

  const readObject = (value: unknown): void => {
    if (!isRecord(value)) {
      unreadable += 1
      return
    }
    const index = typeof value.index === 'number' ? value.index : -1
    switch (value.type) {
      case 'message_start':
        counts = { ...counts, ...asRecord(asRecord(value.message)?.usage) }
        return
      case 'content_block_start':
        begin(index, asRecord(value.content_block) ?? {})
        return
      case 'content_block_delta':
        change(index, asRecord(value.delta) ?? {})
        return
      case 'message_delta': {
        counts = { ...counts, ...withoutNull(value.usage) }
        const delta = asRecord(value.delta)
        stop(delta?.stop_reason, delta?.stop_details)
        return
      }
      case 'message_stop':
        done = true
        return
      case 'error': {
        const fault = asRecord(value.error) ?? {}
        const status = STATUS[textOf(fault.type)] ?? 500
        error ??= statusFailure({ status, body: fault }, context)
        return
      }
      case 'message':
        counts = { ...asRecord(value.usage) }
        if (Array.isArray(value.content))
          for (const [at, block] of value.content.entries()) begin(at, asRecord(block) ?? {})
        stop(value.stop_reason, value.stop_details)
    }
  }
  const ordered = (): Block[] => [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block)
  const take = (): LlmEvent[] => {
    const taken = events
    events = []
    for (const event of taken)
      if (event.type === 'text_delta' || event.type === 'thinking_delta')
        textTokens += tokenWeight(event.text)
    return taken
  }

  return {
    read(text, from, to) {
      if (done || error !== null) return
      try {
        readObject(JSON.parse(text.slice(from, to)))
      } catch {
        unreadable += 1
      }
    },
    readObject,
    take,
    end: take,
    calls: () => ordered().flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : [])),
    carried() {
      const content = ordered().map(contentOf)
      const isNeeded = blocks.size > 0 && (hasHidden(content) || finishReason === 'pause_turn')
      return isNeeded ? content : undefined
    },
    get done() {
      return done
    },
    get finishReason() {
      return finishReason
    },
    get usage() {
      return usageOf(counts)
    },
    get error() {
      return error
    },
    get unreadable() {
      return unreadable
    },
    get size() {
      return size
    },
    get textTokens() {
      return textTokens
    },
    get empty() {
      return blocks.size === 0
    },
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const withoutNull = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(asRecord(value) ?? {}).filter(([, count]) => count !== null))

function callOf({ start, text }: Block): ToolCall {
  const id = CallId.safeParse(start.id)
  const written = text.read()
  return {
    id: id.success ? id.data : CallId.parse(`call_${newId()}`),
    name: textOf(start.name),
    arguments: written.trim() === '' ? '{}' : written,
  }
}

/** A block as the API wants it back. */
function contentOf({ start, type, text, signature }: Block): Record<string, unknown> {
  const written = text.read()
  if (type === 'text') return { ...start, text: written }
  if (type === 'thinking') return { ...start, thinking: written, signature }
  if (type !== 'tool_use') return start
  try {
    return { ...start, input: JSON.parse(written.trim() === '' ? '{}' : written) }
  } catch {
    return { ...start, input: { unreadable: written.slice(0, 2000) } }
  }
}

/** Holds more than text and calls, which the conversation has anyway. */
const hasHidden = (content: readonly Record<string, unknown>[]): boolean =>
  content.some(({ type }) => type !== 'text' && type !== 'tool_use')

/** The API counts cached input beside the other input; here it is part of the prompt. */
function usageOf(counts: Record<string, unknown>): Usage | null {
  const count = (value: unknown): number =>
    typeof value === 'number' && value >= 0 ? Math.round(value) : 0
  const prompt =
    count(counts.input_tokens) +
    count(counts.cache_read_input_tokens) +
    count(counts.cache_creation_input_tokens)
  const completion = count(counts.output_tokens)
  if (prompt + completion === 0 || prompt > MAX_TOKENS || completion > MAX_TOKENS) return null
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  }
}
