// Reads the chunks of a chat completion stream: text, reasoning, calls, usage, finish reason. One reader per response.
import type { AppError } from '../../errors.ts'
import { asRecord, asText, isRecord } from '../../lib/records.ts'
import { MAX_TOKENS } from '../../protocol/bounds.ts'
import {
  disorderedStream,
  endingOf,
  errorIn,
  errorObjectFailure,
  type FailureContext,
  statusFailure,
} from '../failure.ts'
import { createDeltaBuffer, type DeltaBuffer } from '../streaming/delta-buffer.ts'
import type { ResponseReader } from '../streaming/response-reader.ts'
import { readCount, readCounts, type TokenCounts } from '../usage.ts'
import { mergeCarried, newPart } from './carried-fields.ts'
import { createToolCallAssembly, type ToolCallAssembly } from './chunk-reader/tool-call-assembly.ts'

/** What the chunks so far say about the response. */
interface Answer {
  readonly context: FailureContext
  readonly reportsCost: boolean
  readonly deltas: DeltaBuffer
  /** Undefined before the first piece of a call: most answers have none. */
  assembly: ToolCallAssembly | undefined
  /** What the message must carry back. */
  readonly carried: Record<string, unknown>
  /** MiniMax's list of reasoning so far. */
  details: string
  textSize: number
  hasDeltas: boolean
  done: boolean
  finishReason: string | null
  usage: TokenCounts | null
  error: AppError | null
  unreadable: number
}

const newAnswer = (context: FailureContext, reportsCost: boolean): Answer => ({
  context,
  reportsCost,
  deltas: createDeltaBuffer(),
  assembly: undefined,
  carried: {},
  details: '',
  textSize: 0,
  hasDeltas: false,
  done: false,
  finishReason: null,
  usage: null,
  error: null,
  unreadable: 0,
})

/** What a chunk holds apart from a text in a field of its own, so that chunks like it can be read without parsing. */
type Only = 'content' | 'reasoning' | 'other'

/** @param reportsCost whether the provider's `usage.cost` is the cost of the call in US dollars. */
export function createChunkReader(
  context: FailureContext,
  { reportsCost = false }: { reportsCost?: boolean } = {},
): ResponseReader {
  const answer = newAnswer(context, reportsCost)
  const { deltas } = answer
  const contentTemplate = createChunkTemplate('content')
  const reasoningTemplate = createChunkTemplate('reasoning_content')
  const repetitions = createRepetitions()

  return {
    read(text, from, to) {
      if (answer.error !== null) return
      if (answer.finishReason !== null || answer.done) {
        // Most of what follows the end is meaningless, but a second answer is not.
        if (repetitions.isSecondAnswer(text.slice(from, to), answer.done))
          answer.error = disorderedStream(context)
        if (answer.done || answer.error !== null) return
      }
      const said = contentTemplate.match(text, from, to)
      if (said !== undefined) return addContent(answer, said)
      const thought = reasoningTemplate.match(text, from, to)
      if (thought !== undefined) return addReasoning(answer, thought)
      const payload = text.slice(from, to)
      if (payload.startsWith('[DONE]')) {
        answer.done = true
        return
      }
      const value = parse(payload)
      if (value === undefined) {
        answer.unreadable += 1
        return
      }
      if (repetitions.isEndAgain(payload)) return
      const padding = paddingOf(value)
      if (repetitions.isRepeated(payload, padding)) {
        answer.error = disorderedStream(context)
        return
      }
      const wasFinished = answer.finishReason !== null
      const only = readOrSkip(answer, value)
      repetitions.note(payload, padding, {
        hasContent: !isEmpty(answer),
        isEnd: !wasFinished && answer.finishReason !== null,
      })
      if (padding !== '') return
      if (only === 'content') contentTemplate.learn(payload, deltaText(value, 'content'))
      else if (only === 'reasoning')
        reasoningTemplate.learn(payload, deltaText(value, 'reasoning_content'))
    },
    readObject: (value) => void readOrSkip(answer, value),
    take: deltas.take,
    end: deltas.end,
    calls: () => answer.assembly?.finish() ?? [],
    carried: () => carriedBy(answer),
    get done() {
      return answer.done
    },
    get finishReason() {
      return answer.finishReason
    },
    get usage() {
      return answer.usage
    },
    get error() {
      return answer.error
    },
    get unreadable() {
      return answer.unreadable
    },
    get size() {
      return answer.textSize + (answer.assembly?.size ?? 0)
    },
    get textTokens() {
      return deltas.tokens
    },
    get empty() {
      return isEmpty(answer)
    },
    get hasText() {
      return deltas.hasText
    },
    get hasThinking() {
      return deltas.hasThinking
    },
  }
}

/** Recognizes chunks that arrive twice. They have no numbers, so only those that cannot be equal by chance are recognized. */
function createRepetitions() {
  const seen = {
    /** The first chunk with content. */
    opening: '',
    /** The chunk with the finish reason. */
    finishing: '',
    /** The last chunk that ends with random characters, and those characters. */
    padded: '',
    padding: '',
    /** Until different chunks end with the same characters, because some gateways add constant ones. */
    isPaddingRandom: true,
  }
  return {
    /** Whether what follows the end of an answer is another one. */
    isSecondAnswer: (payload: string, isDone: boolean): boolean =>
      payload === seen.opening
        ? payload !== seen.finishing
        : isDone && saysSomething(parse(payload)),
    isEndAgain: (payload: string): boolean => payload === seen.finishing,
    /** Learns whether the padding is random. */
    isRepeated(payload: string, padding: string): boolean {
      if (padding === '') return false
      if (seen.isPaddingRandom && payload === seen.padded) return true
      if (padding === seen.padding && payload !== seen.padded) seen.isPaddingRandom = false
      return false
    },
    note(
      payload: string,
      padding: string,
      { hasContent, isEnd }: { hasContent: boolean; isEnd: boolean },
    ): void {
      if (seen.opening === '' && hasContent) seen.opening = payload
      if (isEnd) seen.finishing = payload
      if (padding !== '') Object.assign(seen, { padded: payload, padding })
    },
  }
}

const isEmpty = ({ textSize, assembly }: Answer): boolean =>
  textSize === 0 && assembly?.started !== true

function addContent(answer: Answer, piece: string): void {
  answer.textSize += piece.length
  answer.deltas.addText(piece)
}

function addReasoning(answer: Answer, piece: string): void {
  answer.textSize += piece.length
  answer.deltas.addThinking(piece)
}

function addCalls(answer: Answer, pieces: readonly unknown[]): void {
  answer.assembly ??= createToolCallAssembly()
  answer.assembly.add(pieces)
}

/** Reads a chunk, or a whole response; one that is nested deeper than the stack is skipped like one that is no JSON. */
function readOrSkip(answer: Answer, value: unknown): Only {
  try {
    return readChunk(answer, value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    answer.unreadable += 1
    return 'other'
  }
}

/** Reads a chunk, or a whole response. */
function readChunk(answer: Answer, value: unknown): Only {
  const { context } = answer
  const fault = errorIn(value)
  if (fault !== undefined) {
    answer.error ??= errorObjectFailure(fault, context)
    return 'other'
  }
  if (!isRecord(value)) {
    answer.unreadable += 1
    return 'other'
  }
  // Groq sends it in a field of its own in streams.
  const counted = readUsage(value.usage ?? asRecord(value.x_groq)?.usage)
  if (counted === 'implausible') answer.unreadable += 1
  else if (counted !== null)
    answer.usage = answer.reportsCost ? { ...counted, ...reportedCost(value.usage) } : counted
  const choices = value.choices
  if (!Array.isArray(choices)) return 'other'
  let only: Only = 'other'
  for (const choice of choices) {
    // Only the first choice is read.
    if (!isRecord(choice) || (typeof choice.index === 'number' && choice.index > 0)) continue
    if (isRecord(choice.delta)) {
      only = readDelta(answer, choice.delta)
      answer.hasDeltas ||= !isEmpty(answer)
      // A response that is not a stream. After deltas, a message repeats what they said.
    } else if (isRecord(choice.message) && !answer.hasDeltas)
      only = readDelta(answer, choice.message)
    // A server of the older completions API.
    else if (typeof choice.text === 'string') addContent(answer, choice.text)
    if (readEnd(answer, choice)) only = 'other'
  }
  return counted === null && choices.length === 1 ? only : 'other'
}

/** Whether the choice ends the response. */
function readEnd(
  answer: Answer,
  { finish_reason: reason, error }: Record<string, unknown>,
): boolean {
  if (typeof reason !== 'string' || NO_REASON.test(reason)) return false
  answer.finishReason ??= reason
  if (endingOf(reason) === 'error')
    answer.error ??=
      error === undefined || error === null
        ? statusFailure({ status: 503, body: reason }, answer.context)
        : errorObjectFailure(error, answer.context)
  return true
}

function readDelta(answer: Answer, delta: Record<string, unknown>): Only {
  const calls = delta.tool_calls
  const carries = mergeCarried(answer.carried, delta)
  const thought = plainThought(delta) || newDetails(answer, delta)
  const said = asText(delta.content) || asText(delta.refusal)
  if (thought !== '') addReasoning(answer, thought)
  if (typeof delta.content === 'object' && delta.content !== null)
    readParts(answer, [delta.content].flat())
  else if (said !== '') addContent(answer, said)
  if (Array.isArray(calls) && calls.length > 0) addCalls(answer, calls)
  const legacy = delta.function_call
  if (isRecord(legacy)) addCalls(answer, [{ index: 0, function: legacy }])
  if (carries || isRecord(legacy) || (Array.isArray(calls) && calls.length > 0)) return 'other'
  if (thought !== '')
    return said === '' && thought === delta.reasoning_content ? 'reasoning' : 'other'
  return said !== '' && typeof delta.content === 'string' ? 'content' : 'other'
}

/** Content as a list of parts, which is how Mistral sends reasoning. */
function readParts(answer: Answer, parts: readonly unknown[]): void {
  for (const part of parts) {
    if (!isRecord(part)) continue
    if (Array.isArray(part.thinking))
      for (const inner of part.thinking)
        if (isRecord(inner)) addReasoning(answer, asText(inner.text))
    if (typeof part.thinking === 'string') addReasoning(answer, part.thinking)
    const isThought = /^(?:thinking|reasoning|thought)/.test(asText(part.type))
    if (typeof part.text === 'string')
      if (isThought) addReasoning(answer, part.text)
      else addContent(answer, part.text)
  }
}

/** What the provider requires back with the message and its calls; undefined if nothing. */
function carriedBy({ assembly, carried }: Answer) {
  const calls = assembly?.carried() ?? []
  const has = {
    ...(Object.keys(carried).length === 0 ? {} : { message: carried }),
    ...(calls.every((call) => call === null) ? {} : { calls }),
  }
  return Object.keys(has).length === 0 ? undefined : has
}

/** The finish reason of pieces that are not the last one; DashScope and some gateways write `null` as a text. */
const NO_REASON = /^(?:null|none)?$/i

/** Reasoning in the fields of DeepSeek and most others, of OpenRouter and Ollama, and of gateways. */
const plainThought = ({ reasoning_content, reasoning, thinking }: Record<string, unknown>) =>
  asText(reasoning_content) || asText(reasoning) || asText(thinking)

/** What MiniMax's list of reasoning adds to that of earlier pieces. */
function newDetails(answer: Answer, { reasoning_details: given }: Record<string, unknown>): string {
  const list: unknown[] = Array.isArray(given) ? given : []
  const text = list
    .map((detail) => asText(asRecord(detail)?.text) || asText(asRecord(detail)?.summary))
    .join('')
  const part = newPart(answer.details, text)
  answer.details += part
  return part
}

/** Undefined if it is not JSON. */
function parse(payload: string): unknown {
  try {
    return JSON.parse(payload) as unknown
  } catch {
    return undefined
  }
}

/**
 * Fewer random characters could be equal by chance. Many chunks have none, because their word is as long as the padding.
 */
const MIN_PADDING = 4

/** OpenAI hides the lengths of words by padding chunks with random characters. Empty if there are too few. */
function paddingOf(value: unknown): string {
  const filling = asText(asRecord(value)?.obfuscation)
  return filling.length < MIN_PADDING ? '' : filling
}

/** Whether a chunk contains a piece of the answer. */
function saysSomething(value: unknown): boolean {
  const delta = firstDelta(value)
  if (delta === undefined) return false
  const calls = delta.tool_calls
  const texts = [
    delta.content,
    delta.reasoning_content,
    delta.reasoning,
    delta.thinking,
    delta.refusal,
  ]
  return texts.some((text) => asText(text) !== '') || (Array.isArray(calls) && calls.length > 0)
}

/** The text in a field of the first choice's delta; empty if there is none. */
const deltaText = (value: unknown, field: string): string => asText(firstDelta(value)?.[field])

function firstDelta(value: unknown): Record<string, unknown> | undefined {
  const choices = isRecord(value) && Array.isArray(value.choices) ? value.choices : []
  return asRecord(asRecord(choices[0])?.delta)
}

/**
 * The reported usage, with missing fields filled in; null if there is none. `implausible` if it exceeds what any model can
 * process. Cached input is part of the prompt, whatever the provider calls it.
 */
export function readUsage(value: unknown): TokenCounts | 'implausible' | null {
  if (!isRecord(value)) return null
  const inPrompt = asRecord(value.prompt_tokens_details)
  const prompt = readCount(value.prompt_tokens)
  const completion = readCount(value.completion_tokens)
  const total = readCount(value.total_tokens)
  // xAI and Gemini include reasoning, which is billed as output, only in the total.
  const beside = total > 2 * MAX_TOKENS ? 0 : Math.max(0, total - prompt - completion)
  const read = readCounts({
    prompt,
    completion: completion + beside,
    // DeepSeek uses its own field, and Moonshot uses OpenAI's without the enclosing details.
    cached:
      readCount(inPrompt?.cached_tokens) ||
      readCount(value.prompt_cache_hit_tokens) ||
      readCount(value.cached_tokens),
    cacheWrite: readCount(inPrompt?.cache_write_tokens),
    reasoning: Math.max(
      beside,
      readCount(asRecord(value.completion_tokens_details)?.reasoning_tokens),
    ),
  })
  if (read === null || read === 'implausible') return read
  return total === 0 || total > 2 * MAX_TOKENS ? read : { ...read, total_tokens: total }
}

/** More than any call costs. */
const MAX_COST_USD = 10_000

/** OpenRouter's own cost, plus what the provider charges directly if the person uses their own key for it. */
function reportedCost(value: unknown): { cost_usd?: number } {
  const usage = asRecord(value)
  const direct =
    usage?.is_byok === true ? asRecord(usage.cost_details)?.upstream_inference_cost : undefined
  if (typeof usage?.cost !== 'number') return {}
  const cost = usage.cost + (typeof direct === 'number' ? direct : 0)
  return cost >= 0 && cost <= MAX_COST_USD ? { cost_usd: cost } : {}
}

/** The line that most chunks of a stream share, except for a few varying characters. */
interface ChunkTemplate {
  /**
   * Returns the content of the line `text` from `from` to `to`; undefined if the line does not match and must be parsed.
   */
  match(text: string, from: number, to: number): string | undefined
  /** Learns from a parsed line. Its chunk must contain only this text. */
  learn(line: string, content: string): void
}

/** Stops learning after this many lines, because some providers send a random field in each. */
const MAX_LESSONS = 4

/**
 * Safe, because a matching line differs from a parsed one only inside one JSON string, in text without quotes, backslashes
 * and control characters.
 */
function createChunkTemplate(field: 'content' | 'reasoning_content'): ChunkTemplate {
  let prefix = ''
  let suffix = ''
  let lessons = 0
  return {
    match(text, from, to) {
      const start = from + prefix.length
      const end = to - suffix.length
      if (prefix === '' || start > end) return undefined
      // `startsWith` compares character by character in V8, which takes ten times as long as all else here.
      if (text.slice(end, to) !== suffix || text.slice(from, start) !== prefix) return undefined
      const content = text.slice(start, end)
      return isPlain(content) ? content : undefined
    },
    learn(line, content) {
      if (lessons >= MAX_LESSONS || content === '' || !isPlain(content)) return
      lessons += 1
      const at = line.indexOf(`"${content}"`)
      if (at === -1) return
      const before = line.slice(0, at + 1)
      const after = line.slice(at + 1 + content.length)
      // The same text may occur elsewhere in the line, so check that this occurrence is the content.
      const probe = `${before}probe-${content}${after}`
      if (deltaField(probe, field) !== `probe-${content}`) return
      prefix = before
      suffix = after
    },
  }
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22 || code === 0x5c || code < 0x20) return false
  }
  return true
}

function deltaField(line: string, field: string): unknown {
  try {
    // The line may have any shape. If a level is missing, this throws, and the line does not match.
    const parsed = JSON.parse(line) as { choices: { delta: Record<string, unknown> }[] }
    return parsed.choices[0]?.delta[field]
  } catch {
    return undefined
  }
}
