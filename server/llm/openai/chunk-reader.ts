// Reads the chunks of a chat completion stream: text, reasoning, calls, usage, finish reason. One reader per response.
import type { AppError } from '../../errors.ts'
import { asRecord, asText, isRecord } from '../../lib/records.ts'
import {
  disorderedStream,
  errorIn,
  errorObjectFailure,
  type FailureContext,
  statusFailure,
} from '../failure.ts'
import { endingOf } from '../finish.ts'
import type { TokenCounts } from '../usage.ts'
import { mergeCarried, newPart } from './carried-fields.ts'
import {
  deltaText,
  paddingOf,
  parse,
  readUsage,
  reportedCost,
  saysSomething,
} from './chunk-fields.ts'
import { createChunkTemplate } from './chunk-template.ts'
import { createDeltaBuffer } from './delta-buffer.ts'
import type { ResponseReader } from './response-reader.ts'
import { createToolCallAssembly } from './tool-call-assembly.ts'

/** @param reportsCost whether the provider's `usage.cost` is the cost of the call in US dollars. */
export function createChunkReader(
  context: FailureContext,
  { reportsCost = false }: { reportsCost?: boolean } = {},
): ResponseReader {
  const assembly = createToolCallAssembly()
  const carriedByMessage: Record<string, unknown> = {}
  const contentTemplate = createChunkTemplate('content')
  const reasoningTemplate = createChunkTemplate('reasoning_content')
  let textSize = 0
  let done = false
  let finishReason: string | null = null
  let usage: TokenCounts | null = null
  let error: AppError | null = null
  let unreadable = 0
  let hasDeltas = false
  /** The last chunk that ends with random characters, those characters, and the chunk with the finish reason. */
  let padded = ''
  let padding = ''
  let finishing = ''
  /** The first chunk with content. */
  let opening = ''
  /** Until different chunks end with the same characters, because some gateways add constant ones. */
  let isPaddingRandom = true

  const deltas = createDeltaBuffer()
  const content = (piece: string) => {
    textSize += piece.length
    deltas.addText(piece)
  }
  const reasoning = (piece: string) => {
    textSize += piece.length
    deltas.addThinking(piece)
  }

  let details = ''
  const newDetails = (delta: Record<string, unknown>): string => {
    const part = newPart(details, detailsOf(delta))
    details += part
    return part
  }

  /** Returns the text of the delta if the delta contained nothing else, and which kind it is. */
  const readDelta = (delta: Record<string, unknown>): 'content' | 'reasoning' | 'other' => {
    const calls = delta.tool_calls
    const carries = mergeCarried(carriedByMessage, delta)
    const thought = plainThought(delta) || newDetails(delta)
    const said = asText(delta.content) || asText(delta.refusal)
    if (thought !== '') reasoning(thought)
    if (typeof delta.content === 'object' && delta.content !== null)
      readParts([delta.content].flat())
    else if (said !== '') content(said)
    if (Array.isArray(calls) && calls.length > 0) assembly.add(calls)
    const legacy = delta.function_call
    if (isRecord(legacy)) assembly.add([{ index: 0, function: legacy }])
    if (carries || isRecord(legacy) || (Array.isArray(calls) && calls.length > 0)) return 'other'
    if (thought !== '')
      return said === '' && thought === delta.reasoning_content ? 'reasoning' : 'other'
    return said !== '' && typeof delta.content === 'string' ? 'content' : 'other'
  }

  /** Content as a list of parts, which is how Mistral sends reasoning. */
  const readParts = (parts: readonly unknown[]) => {
    for (const part of parts) {
      if (!isRecord(part)) continue
      if (Array.isArray(part.thinking))
        for (const inner of part.thinking) if (isRecord(inner)) reasoning(asText(inner.text))
      if (typeof part.thinking === 'string') reasoning(part.thinking)
      const isThought = /^(?:thinking|reasoning|thought)/.test(asText(part.type))
      if (typeof part.text === 'string') (isThought ? reasoning : content)(part.text)
    }
  }

  const isEmpty = () => textSize === 0 && !assembly.started

  const readObject = (value: unknown): 'content' | 'reasoning' | 'other' => {
    const fault = errorIn(value)
    if (fault !== undefined) {
      error ??= errorObjectFailure(fault, context)
      return 'other'
    }
    if (!isRecord(value)) {
      unreadable += 1
      return 'other'
    }
    // Groq sends it in a field of its own in streams.
    const counted = readUsage(value.usage ?? asRecord(value.x_groq)?.usage)
    if (counted === 'implausible') unreadable += 1
    else if (counted !== null)
      usage = reportsCost ? { ...counted, ...reportedCost(value.usage) } : counted
    const choices = value.choices
    if (!Array.isArray(choices)) return 'other'
    let held: 'content' | 'reasoning' | 'other' = 'other'
    for (const choice of choices) {
      // Only the first choice is read.
      if (!isRecord(choice) || (typeof choice.index === 'number' && choice.index > 0)) continue
      if (isRecord(choice.delta)) {
        held = readDelta(choice.delta)
        hasDeltas ||= !isEmpty()
        // A response that is not a stream. After deltas, a message repeats what they said.
      } else if (isRecord(choice.message) && !hasDeltas) held = readDelta(choice.message)
      // A server of the older completions API.
      else if (typeof choice.text === 'string') content(choice.text)
      const reason = choice.finish_reason
      if (typeof reason !== 'string' || NO_REASON.test(reason)) continue
      finishReason ??= reason
      held = 'other'
      if (endingOf(reason) === 'error')
        error ??=
          choice.error === undefined || choice.error === null
            ? statusFailure({ status: 503, body: reason }, context)
            : errorObjectFailure(choice.error, context)
    }
    return counted === null && choices.length === 1 ? held : 'other'
  }

  return {
    read(text, from, to) {
      if (error !== null) return
      if (finishReason !== null || done) {
        // Most of what follows the end is meaningless, but a second answer is not.
        const payload = text.slice(from, to)
        if (payload === opening ? payload !== finishing : done && saysSomething(parse(payload)))
          error = disorderedStream(context)
        if (done || error !== null) return
      }
      const said = contentTemplate.match(text, from, to)
      if (said !== undefined) return content(said)
      const thought = reasoningTemplate.match(text, from, to)
      if (thought !== undefined) return reasoning(thought)
      const payload = text.slice(from, to)
      if (payload.startsWith('[DONE]')) {
        done = true
        return
      }
      const value = parse(payload)
      if (value === undefined) {
        unreadable += 1
        return
      }
      // Chunks have no numbers. A repeated chunk is recognized only if it could not be equal by chance.
      if (payload === finishing) return
      const filling = paddingOf(value)
      const hasPadding = filling !== ''
      if (hasPadding && isPaddingRandom && payload === padded) {
        error ??= disorderedStream(context)
        return
      }
      if (hasPadding && filling === padding && payload !== padded) isPaddingRandom = false
      const wasFinished = finishReason !== null
      const held = readObject(value)
      if (opening === '' && !isEmpty()) opening = payload
      if (!wasFinished && finishReason !== null) finishing = payload
      if (hasPadding) {
        padded = payload
        padding = filling
      } else if (held === 'content') contentTemplate.learn(payload, deltaText(value, 'content'))
      else if (held === 'reasoning')
        reasoningTemplate.learn(payload, deltaText(value, 'reasoning_content'))
    },
    readObject: (value) => void readObject(value),
    take: deltas.take,
    end: deltas.end,
    calls: () => assembly.finish(),
    carried() {
      const calls = assembly.carried()
      const has = {
        ...(Object.keys(carriedByMessage).length === 0 ? {} : { message: carriedByMessage }),
        ...(calls.every((call) => call === null) ? {} : { calls }),
      }
      return Object.keys(has).length === 0 ? undefined : has
    },
    get done() {
      return done
    },
    get finishReason() {
      return finishReason
    },
    get usage() {
      return usage
    },
    get error() {
      return error
    },
    get unreadable() {
      return unreadable
    },
    get size() {
      return textSize + assembly.size
    },
    get textTokens() {
      return deltas.tokens
    },
    get empty() {
      return isEmpty()
    },
    get hasText() {
      return deltas.hasText
    },
    get hasThinking() {
      return deltas.hasThinking
    },
  }
}

/** The finish reason of pieces that are not the last one; DashScope and some gateways write `null` as a text. */
const NO_REASON = /^(?:null|none)?$/i

/** Reasoning in the fields of DeepSeek and most others, of OpenRouter and Ollama, and of gateways. */
const plainThought = ({
  reasoning_content,
  reasoning,
  thinking,
  thought,
}: Record<string, unknown>) =>
  asText(reasoning_content) || asText(reasoning) || asText(thinking) || asText(thought)

/** The texts in MiniMax's list of reasoning. */
function detailsOf({ reasoning_details: details }: Record<string, unknown>): string {
  const list: unknown[] = Array.isArray(details) ? details : []
  return list
    .map((detail) => asText(asRecord(detail)?.text) || asText(asRecord(detail)?.summary))
    .join('')
}
