// Streams one model response over HTTP, whatever the wire format: from bytes to events, with timeouts, aborts and errors.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppError } from '../../errors.ts'
import type { ModelSettings } from '../../protocol/models/catalog.ts'
import { estimateTokens } from '../../protocol/models/token-estimate.ts'
import { sealCarry } from '../carry.ts'
import type { LlmClient, LlmEvent, LlmRequest, ToolCall } from '../client.ts'
import {
  addText,
  elapsedOf,
  MAX_ERROR_CHARACTERS,
  MAX_OUTPUT_CHARACTERS,
  type ProviderExchange,
} from '../exchange.ts'
import {
  abortedFailure,
  answerless,
  brokenStream,
  connectionFailure,
  endingOf,
  endlessAnswer,
  errorIn,
  errorObjectFailure,
  type FailureContext,
  filteredAnswer,
  silenceFailure,
  statusFailure,
  unreadableAnswer,
} from '../failure.ts'
import { createGrowingText, type Delta, handOver, wholeText } from '../prose.ts'
import { meantTool, readableArguments } from '../readable-calls.ts'
import { estimatePromptTokens } from '../tokens.ts'
import type { TokenCounts } from '../usage.ts'
import type { ByteSource } from './provider-http/response-body.ts'
import {
  type ProviderHttp,
  type ProviderResponse,
  refusal,
  type SilenceWatch,
  watchSilence,
} from './provider-http.ts'
import type { ResponseReader } from './response-reader.ts'
import { createEventStreamReader, type EventStreamReader } from './streamed-client/event-stream.ts'

/** The wire format of one API. */
export interface Wire {
  /** From `carrySource`; seals what the reader carries. */
  source: string
  /** Sends the request. */
  post(request: LlmRequest, signal: AbortSignal): Promise<ProviderResponse>
  /** Creates a reader for one response. */
  createReader(context: FailureContext): ResponseReader
  /** Whether a JSON body is a complete response and not an error. */
  isWhole(body: object): boolean
}

/** The options of a client for one model. */
export interface StreamedClientOptions {
  settings: ModelSettings
  http: ProviderHttp
  /** Seconds without data after which the call fails. The model's own setting takes precedence. */
  idleTimeout: number
  /** Called with the number of lines that could not be read and were skipped; for the log. */
  onSkipped?: ((skipped: { model: string; lines: number }) => void) | undefined
}

/** Milliseconds to wait for the usage and `[DONE]` after the finish reason. */
const AFTER_FINISH_MS = 2000
/** More characters than any model writes. Ends the answer of a provider that never stops. */
const MAX_ANSWER_CHARACTERS = 10_000_000
/** The limit in bytes, for a stream that never stops and contains no text. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024
/** Milliseconds to wait for the body to end after its end marker, to notice if the answer is sent again. */
const AFTER_END_MS = 150
/** Maximum bytes of a body that is not a stream. */
const MAX_WHOLE_BYTES = 20 * 1024 * 1024

/** One request and its response. */
interface Exchange {
  request: LlmRequest
  reader: ResponseReader
  lines: EventStreamReader
  watch: SilenceWatch
  source: ByteSource | undefined
  /** How long what arrives is gathered before it is read. */
  gatherMs: number
  /** Bytes of the stream so far. */
  bytes: number
  /** The body so far, until its first event: it may be JSON, whatever its type says. */
  opening: Buffer[] | null
  /** The error that such a body contained. */
  fault: AppError | undefined
}

const isEndless = ({ reader, bytes }: Exchange): boolean =>
  reader.size > MAX_ANSWER_CHARACTERS || bytes > MAX_STREAM_BYTES

/** A model, its wire format, and what its failures say. */
interface StreamedModel {
  readonly options: StreamedClientOptions
  readonly wire: Wire
  readonly context: FailureContext
  readonly idleSeconds: number
}

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export function createStreamedClient(options: StreamedClientOptions, wire: Wire): LlmClient {
  const { settings } = options
  const model: StreamedModel = {
    options,
    wire,
    context: {
      model: settings.name ?? settings.id,
      apiKey: settings.api_key,
      secrets: Object.values(settings.headers ?? {}),
    },
    idleSeconds: settings.idle_timeout ?? options.idleTimeout,
  }
  return {
    async *stream(request) {
      const watch = watchSilence(request.signal, model.idleSeconds * 1000)
      const reader = model.wire.createReader(model.context)
      const exchange: Exchange = {
        request,
        reader,
        lines: createEventStreamReader((text, from, to) => {
          exchange.opening = null
          reader.read(text, from, to)
        }),
        watch,
        source: undefined,
        gatherMs: 0,
        bytes: 0,
        opening: [],
        fault: undefined,
      }
      try {
        let ending: Ending | null = null
        while (ending === null) {
          try {
            ending =
              exchange.source === undefined || reader.done
                ? await beginOrEnd(model, exchange)
                : readParts(model, exchange, await exchange.source.read(exchange.gatherMs))
          } catch (error) {
            const failure = failureOfReading(model, exchange, error)
            // After the finish reason, silence or a broken connection only means that the end marker is missing.
            ending =
              reader.finishReason !== null && !request.signal.aborted
                ? () => closing(model, exchange)
                : () => [failed(exchange, failure)]
          }
          const deltas = ending === null ? reader.take() : reader.end()
          if (deltas.length === 0) continue
          noteProse(request.exchanges?.at(-1), deltas)
          // The first output is read at once.
          exchange.gatherMs = model.options.http.gatherMs
          const waits = handOver(deltas, request.prose)
          if (waits !== undefined) await waits
        }
        for (const event of ending()) {
          noteEvent(request.exchanges?.at(-1), event)
          yield event
        }
      } finally {
        watch.close()
        if (reader.done || reader.finishReason !== null) exchange.source?.release()
        else exchange.source?.abort(new Error('the response is not read to its end'))
      }
    },
  }
}

/** The last events of a response. Call it once all that was said is handed over. */
type Ending = () => LlmEvent[]

function failureOfReading(model: StreamedModel, exchange: Exchange, error: unknown): AppError {
  const { context, idleSeconds } = model
  if (exchange.request.signal.aborted) return abortedFailure(context)
  if (exchange.watch.silent) return silenceFailure(context, idleSeconds)
  if (exchange.source === undefined) return connectionFailure(error, context)
  return brokenStream(context, error)
}

/**
 * Sends the request. Returns the end of a response that is not a stream, or null if the response must be read as a stream.
 */
async function open(model: StreamedModel, exchange: Exchange): Promise<Ending | null> {
  const { request, reader, watch } = exchange
  const response = await model.wire.post(request, watch.signal)
  if (!response.ok) return () => [failed(exchange, refusal(response, model.context))]
  exchange.source = response.body
  const type = response.headers.get('content-type') ?? ''
  if (/\bhtml\b/.test(type))
    return () => [failed(exchange, unreadableAnswer(model.context, 'model_answer_is_page'))]
  if (!/\bjson\b/.test(type)) return null
  const bytes = await readWhole(response.body, watch)
  const text = bytes?.toString('utf8') ?? ''
  // Some gateways call a stream JSON.
  if (bytes !== undefined && /^\s*(?:data|event|id|retry)?:/.test(text)) {
    const lines = createEventStreamReader(reader.read)
    lines.push(bytes)
    lines.end()
  } else readUnframed(model, exchange, parsedJson(text))
  return () => closing(model, exchange)
}

/** Reads a body that is one JSON value: a response, or an error. */
function readUnframed(model: StreamedModel, exchange: Exchange, whole: unknown): void {
  exchange.fault = faultOf(whole, model.wire, model.context)
  if (exchange.fault === undefined) exchange.reader.readObject(whole)
}

function carriedBy(
  model: StreamedModel,
  reader: ResponseReader,
): { carry?: never } | { carry: string } {
  const carry = sealCarry(model.wire.source, reader.carried())
  return carry === undefined ? {} : { carry }
}

/** Sends the request, or reads on for a moment after the end marker. Returns null if the response must be read as a stream. */
async function beginOrEnd(model: StreamedModel, exchange: Exchange): Promise<Ending | null> {
  if (exchange.source === undefined) {
    const whole = await open(model, exchange)
    if (whole !== null || !exchange.reader.done) return whole
  }
  await readPastEnd(exchange)
  return endReading(model, exchange)
}

/** Passes what has arrived to the reader; null: the body has ended. Returns null until the response has ended. */
function readParts(
  model: StreamedModel,
  exchange: Exchange,
  parts: readonly Buffer[] | null,
): Ending | null {
  const { reader, watch, lines } = exchange
  watch.dataArrived()
  if (parts === null) {
    lines.end()
    const whole = parsedJson(Buffer.concat(exchange.opening ?? []).toString('utf8'))
    if (isObject(whole)) readUnframed(model, exchange, whole)
    return endReading(model, exchange)
  }
  for (const part of parts) {
    exchange.bytes += part.length
    exchange.opening?.push(part)
    lines.push(part)
  }
  if (exchange.bytes > MAX_WHOLE_BYTES) exchange.opening = null
  if (reader.error !== null || isEndless(exchange)) return endReading(model, exchange)
  if (reader.finishReason !== null) watch.shorten(AFTER_FINISH_MS)
  return null
}

function endReading(model: StreamedModel, exchange: Exchange): Ending {
  const skipped = exchange.reader.unreadable + exchange.lines.dropped
  if (skipped > 0) model.options.onSkipped?.({ model: model.options.settings.id, lines: skipped })
  return () => closing(model, exchange)
}

/** The last events of a response: its calls and its end. */
function closing(model: StreamedModel, exchange: Exchange): LlmEvent[] {
  const { reader } = exchange
  const error = exchange.fault ?? reader.error
  if (error !== null) return [failed(exchange, error)]
  if (isEndless(exchange)) return [failed(exchange, endlessAnswer(model.context))]
  if (reader.finishReason === null && !reader.done)
    return [failed(exchange, endedEarly(reader, model.context))]
  const calls = readCalls(exchange)
  const missing = missingAnswer(model, reader, calls.length > 0)
  if (missing !== undefined) return [failed(exchange, missing)]
  const isCut = ['length', 'pause'].includes(endingOf(reader.finishReason))
  const reason = calls.length > 0 ? 'tool_calls' : isCut ? 'length' : 'stop'
  return [
    ...calls.map((call): LlmEvent => ({ type: 'tool_call', call })),
    {
      type: 'finished',
      reason,
      usage: reader.usage ?? estimated(exchange, calls),
      estimated: reader.usage === null,
      model: model.options.settings.id,
      ...carriedBy(model, reader),
    },
  ]
}

/** Why a response that ended properly is no answer; undefined if it is one. */
function missingAnswer(
  model: StreamedModel,
  reader: ResponseReader,
  hasCalls: boolean,
): AppError | undefined {
  const ending = endingOf(reader.finishReason)
  if (ending === 'filter') return filteredAnswer(model.context, reader.finishReason ?? '')
  if (ending === 'error')
    return statusFailure({ status: 503, body: reader.finishReason ?? '' }, model.context)
  // Also after a text, which announced the call.
  if (ending === 'malformed' && !hasCalls) return answerless(model.context, 'model_call_malformed')
  // A paused message is continued by its client.
  if (hasCalls || reader.hasText || ending === 'pause') return undefined
  if (ending === 'length') return answerless(model.context, 'model_answer_only_thinking_cut')
  return answerless(
    model.context,
    reader.hasThinking ? 'model_answer_only_thinking' : 'model_answer_empty',
  )
}

/**
 * The arguments of a call that was cut off before its first argument: not JSON, so that it does not run without arguments.
 */
const CUT_ARGUMENTS = '{'

/**
 * The calls of a response, with the names of offered tools and with arguments that are one JSON object where that can be
 * meant. Missing arguments become an empty object, unless the response was cut off there.
 */
function readCalls({ reader, request }: Exchange): ToolCall[] {
  const calls = reader.calls()
  const names = request.tools.map((tool) => tool.function.name)
  const isCutOff = endingOf(reader.finishReason) !== 'stop'
  return calls.map((call, at) => {
    const isCut = isCutOff && at === calls.length - 1
    const given = readableArguments(call.arguments, { isCut })
    return {
      ...call,
      name: meantTool(call.name, names),
      arguments: given ?? (call.arguments.trim() === '' ? CUT_ARGUMENTS : call.arguments),
    }
  })
}

const endedEarly = (reader: ResponseReader, context: FailureContext): AppError =>
  reader.empty && reader.unreadable > 0
    ? unreadableAnswer(context, 'model_answer_no_stream')
    : brokenStream(context)

const failed = (exchange: Exchange, error: AppError): LlmEvent => {
  const { reader } = exchange
  if (reader.empty && reader.usage === null) return { type: 'failed', error }
  return { type: 'failed', error, usage: reader.usage ?? estimated(exchange, []) }
}

function estimated({ request, reader }: Exchange, calls: readonly ToolCall[]): TokenCounts {
  const prompt = estimatePromptTokens(request)
  const inCalls = calls.reduce((sum, call) => sum + estimateTokens(call.name + call.arguments), 0)
  const completion = Math.ceil(reader.textTokens) + inCalls
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  }
}

/**
 * Reads on for a moment after the end marker, because a reader reports what must not follow it. A body that stays open or
 * breaks now changes nothing.
 */
async function readPastEnd({ source, reader, lines }: Exchange): Promise<void> {
  const until = performance.now() + AFTER_END_MS
  try {
    while (reader.error === null) {
      const left = until - performance.now()
      if (left <= 0) return
      const read = source?.read()
      // Nobody waits for it once the time is up.
      read?.catch(() => undefined)
      const parts = (await Promise.race([read, sleep(left, null, { ref: false })])) ?? null
      if (parts === null) return
      for (const part of parts) lines.push(part)
    }
  } catch {
    // The answer is complete.
  }
}

/** Reads a whole body; undefined if it is too long. */
async function readWhole(source: ByteSource, watch: SilenceWatch): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for (let read = await source.read(); read !== null; read = await source.read()) {
    watch.dataArrived()
    for (const part of read) {
      parts.push(part)
      size += part.length
    }
    if (size > MAX_WHOLE_BYTES) return undefined
  }
  return Buffer.concat(parts)
}

/** Undefined if the text is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The error of a JSON response that is not a completion; undefined if it is one. */
function faultOf(whole: unknown, wire: Wire, context: FailureContext): AppError | undefined {
  if (!isObject(whole)) return unreadableAnswer(context, 'model_answer_no_json')
  const error = errorIn(whole)
  if (error === undefined && wire.isWhole(whole)) return undefined
  return errorObjectFailure(error ?? whole, context)
}

/** Records what a response said. */
function noteProse(exchange: ProviderExchange | undefined, deltas: readonly Delta[]): void {
  if (exchange === undefined) return
  for (const delta of deltas)
    switch (delta.type) {
      case 'thinking_delta':
        if (!addText(exchange.thinking, delta.text)) exchange.isCut = true
        break
      case 'text_delta':
        if (!addText(exchange.text, delta.text)) exchange.isCut = true
        break
      case 'text_was_thinking':
        if (!addText(exchange.thinking, wholeText(exchange.text))) exchange.isCut = true
        exchange.text = createGrowingText()
    }
}

/** Records how a response ended. */
function noteEvent(exchange: ProviderExchange | undefined, event: LlmEvent): void {
  if (exchange === undefined) return
  switch (event.type) {
    case 'tool_call':
      noteCall(exchange, event.call)
      break
    case 'finished':
      exchange.finish = event.reason
      exchange.usage = event.estimated ? null : event.usage
      exchange.endMs = elapsedOf(exchange)
      break
    case 'failed':
      exchange.usage = event.usage ?? null
      exchange.error ??= event.error.message.slice(0, MAX_ERROR_CHARACTERS)
      exchange.endMs = elapsedOf(exchange)
  }
}

function noteCall(exchange: ProviderExchange, { name, arguments: text }: ToolCall): void {
  const kept = exchange.calls.reduce((sum, call) => sum + call.arguments.length, 0)
  const room = Math.max(0, MAX_OUTPUT_CHARACTERS - kept)
  if (text.length > room) exchange.isCut = true
  exchange.calls.push({ name, arguments: text.slice(0, room) })
}
