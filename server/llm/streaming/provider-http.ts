// HTTP to model providers: a connection pool, response bodies read as bytes without web streams, and requests to the API of one model.
import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import type { AppError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import { type Outgoing, throughProxies } from '../../lib/proxies.ts'
import type { ModelSettings } from '../../protocol/models/catalog.ts'
import { beginExchange, type ExchangeTarget, KEY_PLACEHOLDER, noteResponse } from '../exchange.ts'
import { type FailureContext, readRetryAfter, statusFailure } from '../failure.ts'
import { splitApiUrl } from '../provider-quirks.ts'
import { toolsJson } from '../tokens.ts'
import {
  type Body,
  type BodyContext,
  type ByteSource,
  createBody,
  createSharedTicks,
  createSocketGate,
  followSockets,
} from './provider-http/response-body.ts'

/** With more simultaneous responses, reads share ticks, and sockets rest between them (`provider-http/response-body.ts`). */
const MANY_BODIES = 100
/** Maximum bytes read of an error body; the message is at the beginning. */
const ERROR_BODY_BYTES = 64 * 1024
/** Maximum milliseconds to wait for an error body; the status is the important part. */
const ERROR_BODY_MS = 3000

/** One HTTP request to a provider. */
export interface ProviderRequest {
  url: URL
  headers: Record<string, string>
  /** JSON text, sent with POST. Without it, the request is a GET. */
  body?: string
  /** Aborting closes the connection and rejects the promise with the signal's reason. */
  signal: AbortSignal
}

/** The status and headers of a response. The body of a successful one must still be read. */
export type ProviderResponse =
  | { ok: true; status: number; headers: ResponseHeaders; body: ByteSource }
  /** A status other than 2xx, or 204. `text` is the beginning of the body. */
  | { ok: false; status: number; headers: ResponseHeaders; text: string }

/** By name in lower case. (Creating `Headers` from them costs more than reading one.) */
export interface ResponseHeaders {
  get(name: string): string | null | undefined
}

/** The HTTP connections to providers. */
export interface ProviderHttp {
  /** Resolves when the headers have arrived. Rejects if there is no response. */
  request(request: ProviderRequest): Promise<ProviderResponse>
  /** Milliseconds for which text is gathered now, before it is read: more while the process has no time. */
  readonly gatherMs: number
  close(): Promise<void>
}

/** Create one per process; all models share it. */
export function createProviderHttp(): ProviderHttp {
  let agent: Promise<Outgoing> | undefined
  let openBodies = 0
  const ticks = createSharedTicks()
  const pace = createGatherPace()
  const sockets = followSockets()
  const connections: Connections = {
    expectSocket: sockets.ofNextRequest,
    count(change) {
      openBodies += change
    },
    createBody: (controller, socket) =>
      createBody({
        controller,
        gate: createSocketGate(socket),
        ticks,
        isCrowded: () => openBodies > MANY_BODIES,
      }),
  }
  return {
    async request(request) {
      agent ??= createAgent()
      return await dispatch((await agent).dispatcher, connections, request)
    },
    get gatherMs() {
      return pace.at(performance.now(), openBodies > MANY_BODIES ? ticks.lateMs : 0)
    },
    async close() {
      sockets.close()
      await (await agent)?.destroy()
    },
  }
}

/** Loaded on the first request, and without the rest of the package (decision 0018). */
async function createAgent(): Promise<Outgoing> {
  const { default: ConnectionPool } = await import('undici/lib/dispatcher/agent.js')
  // The caller sets the timeouts: a thinking model may be silent for a long time.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
  const direct = new ConnectionPool({ ...timeouts, connect: { timeout: 10_000 } })
  return await throughProxies(direct, timeouts)
}

/** State that the requests of a process share. */
interface Connections {
  /** Call it when a request starts: its socket is found next. */
  expectSocket(receive: (socket: Socket) => void): void
  /** Call it when a body begins and when it has ended. */
  count(change: 1 | -1): void
  createBody(controller: BodyContext['controller'], socket: Socket | undefined): Body
}

function dispatch(
  agent: Dispatcher,
  connections: Connections,
  { url, headers, body: sent, signal }: ProviderRequest,
): Promise<ProviderResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortReason(signal))
    let body: Body | undefined
    let failing:
      | { status: number; headers: ResponseHeaders; parts: Buffer[]; bytes: number }
      | undefined
    let limit: NodeJS.Timeout | undefined
    let exchange: Dispatcher.DispatchController | undefined
    let socket: Socket | undefined
    // While connecting, there is no socket to close. Reject immediately.
    const stop = () => {
      exchange?.abort(abortReason(signal))
      reject(abortReason(signal))
    }
    const stopListening = onAbort(signal, stop)
    const settled = () => {
      clearTimeout(limit)
      stopListening()
      if (body !== undefined) connections.count(-1)
    }
    const resolveFailure = () => {
      if (failing === undefined) return
      const { status, headers, parts } = failing
      resolve({ ok: false, status, headers, text: Buffer.concat(parts).toString('utf8') })
    }
    const endFailure = () => {
      resolveFailure()
      exchange?.abort(new Error('the rest of an error body is not read'))
    }
    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: sent === undefined ? 'GET' : 'POST',
        headers,
        body: sent ?? null,
      },
      {
        onRequestStart(controller) {
          exchange = controller
          if (signal.aborted) return stop()
          connections.expectSocket((found) => {
            socket = found
          })
        },
        onResponseStart(controller, status, rawHeaders) {
          if (status < 200) return
          const headers = new Map(
            Object.entries(rawHeaders).map(([name, value]) => [name, String(value)]),
          )
          if (status >= 300 || status === 204) {
            failing = { status, headers, parts: [], bytes: 0 }
            limit = setTimeout(endFailure, ERROR_BODY_MS)
            return
          }
          body = connections.createBody(controller, socket)
          connections.count(1)
          resolve({ ok: true, status, headers, body: body.source })
        },
        onResponseData(_controller, chunk) {
          if (body !== undefined) return body.push(chunk)
          if (failing === undefined) return
          failing.parts.push(chunk)
          failing.bytes += chunk.length
          if (failing.bytes > ERROR_BODY_BYTES) endFailure()
        },
        onResponseEnd() {
          settled()
          body?.end(null)
          resolveFailure()
        },
        onResponseError(_controller, error) {
          settled()
          body?.end(error)
          resolveFailure()
          reject(error)
        },
      } satisfies Dispatcher.DispatchHandler,
    )
  })
}

const abortReason = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError')

/** Milliseconds, while the process has time. */
const GATHER_MS = 50
/** At most, because tokens must not be 100 ms late. Each piece that is read costs the same, however long it is (decision 0018). */
const MAX_GATHER_MS = 80
const STEP_MS = 10
/** Ticks that are later say that the process has no time. */
const LATE_MS = 12
/** Ticks that are less late say that it has. */
const ON_TIME_MS = 3
/** Milliseconds between two changes: more text at once helps soon, but that there is time again must last. */
const SLOWER_AFTER_MS = 200
const FASTER_AFTER_MS = 500

/** Follows how late the process is. */
interface GatherPace {
  /** Milliseconds to gather text for, at this time. `lateMs`: by how much recent timers were late. */
  at(now: number, lateMs: number): number
}

/** Create one per process. */
export function createGatherPace(): GatherPace {
  let gatherMs = GATHER_MS
  let changedAt = Number.NEGATIVE_INFINITY
  const change = (now: number, by: number): void => {
    gatherMs = Math.min(MAX_GATHER_MS, Math.max(GATHER_MS, gatherMs + by))
    changedAt = now
  }
  return {
    at(now, lateMs) {
      if (lateMs > LATE_MS && now - changedAt >= SLOWER_AFTER_MS) change(now, STEP_MS)
      else if (lateMs < ON_TIME_MS && now - changedAt >= FASTER_AFTER_MS) change(now, -STEP_MS)
      return gatherMs
    },
  }
}

// Requests to the API of one model: URL, headers, the longest silence, and the error of a failed request.

/** Requests to one provider, with its address, key and headers. */
export interface OpenAiConnection {
  get(path: string, signal: AbortSignal): Promise<ProviderResponse>
  /** Sends `body` as JSON, and records it in `target` with the status and headers of the response. */
  post(
    path: string,
    body: Record<string, unknown>,
    signal: AbortSignal,
    target?: ExchangeTarget,
  ): Promise<ProviderResponse>
}

/**
 * Sends only these headers: nothing about the machine, and no key from the environment.
 * @param authentication headers that replace the bearer token. The model's own headers take precedence over all others.
 */
export function connectOpenAi(
  settings: Pick<ModelSettings, 'api_url' | 'api_key' | 'headers'>,
  http: ProviderHttp,
  authentication?: Record<string, string>,
): OpenAiConnection {
  const { base, query } = splitApiUrl(settings.api_url)
  const headers: Record<string, string> = {
    accept: 'application/json',
    // Compression delays the pieces of a stream.
    'accept-encoding': 'identity',
    'user-agent': 'nanoclaw',
  }
  if (authentication !== undefined) Object.assign(headers, authentication)
  else if (settings.api_key !== undefined && settings.api_key !== '')
    headers.authorization = `Bearer ${settings.api_key}`
  const own = Object.entries(settings.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  )
  Object.assign(headers, Object.fromEntries(own))
  const postHeaders = { ...headers, 'content-type': 'application/json' }
  /** What the inspector may show. */
  const shownHeaders = {
    ...postHeaders,
    ...Object.fromEntries(own.map(([name]) => [name, KEY_PLACEHOLDER])),
  }
  const urls = new Map<string, URL>()
  const urlOf = (path: string): URL => {
    const known = urls.get(path)
    if (known !== undefined) return known
    const url = new URL(base + path)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    urls.set(path, url)
    return url
  }
  return {
    get: (path, signal) => http.request({ url: urlOf(path), headers, signal }),
    async post(path, body, signal, target) {
      const url = urlOf(path)
      const exchange =
        target === undefined
          ? undefined
          : beginExchange(target, { url, headers: shownHeaders, body })
      const text = bodyText(body)
      const response = await http.request({ url, headers: postHeaders, body: text, signal })
      noteResponse(exchange, response)
      return response
    },
  }
}

/** Like `JSON.stringify`, but reuses the text of tools that earlier requests had. Every character is whole. */
function bodyText(body: Record<string, unknown>): string {
  const { tools } = body
  if (!Array.isArray(tools)) return wholeCharacters(JSON.stringify(body))
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const json = name === 'tools' ? toolsJson(tools) : JSON.stringify(value)
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`]
  })
  return wholeCharacters(`{${fields.join(',')}}`)
}

/** Half of a character that consists of two, which `JSON.stringify` escapes: cutting a text may leave it. */
const HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** Anthropic and others refuse a request that contains half of a character. */
const wholeCharacters = (json: string): string =>
  json.includes('\\ud') ? json.replace(HALF, '$1\\ufffd') : json

/** The error for a failed request. */
export function refusal(
  { status, headers, text }: Extract<ProviderResponse, { ok: false }>,
  context: FailureContext,
): AppError {
  const retryAfter = readRetryAfter(headers.get('retry-after') ?? null, Date.now())
  return statusFailure({ status, body: parsed(text), retryAfter }, context)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Aborts a request if nothing arrives for too long. */
export interface SilenceWatch {
  /** Pass this to the request. */
  readonly signal: AbortSignal
  /** Whether silence ended the request. */
  readonly silent: boolean
  /** Call it when data has arrived. Restarts the timeout. */
  dataArrived(): void
  /** Reduces the timeout to this value if it is longer. */
  shorten(milliseconds: number): void
  /** Removes the listener and the timer. */
  close(): void
}

/** @param idleMs milliseconds of silence after which the signal aborts. */
export function watchSilence(outer: AbortSignal, idleMs: number): SilenceWatch {
  const controller = new AbortController()
  let silent = false
  const stop = () => controller.abort(outer.reason)
  const expire = () => {
    silent = true
    controller.abort(new Error('silence'))
  }
  let limit = idleMs
  let timer = setTimeout(expire, limit)
  const stopListening = onAbort(outer, stop)
  return {
    signal: controller.signal,
    get silent() {
      return silent
    },
    dataArrived: () => void timer.refresh(),
    shorten(milliseconds) {
      if (milliseconds >= limit) return
      limit = milliseconds
      clearTimeout(timer)
      timer = setTimeout(expire, limit)
    },
    close() {
      clearTimeout(timer)
      stopListening()
    },
  }
}
