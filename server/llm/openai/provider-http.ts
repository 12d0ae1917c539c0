// HTTP to model providers: a connection pool, and response bodies read as bytes without web streams.
import type { Agent, Dispatcher } from 'undici'
import { onAbort } from '../../lib/abort.ts'

/** The socket is paused while more than this is unread. */
const MAX_UNREAD_BYTES = 1024 * 1024
const RELEASE_MS = 1000
/** A read resolves early when this much is available. */
const GATHERED_BYTES = 64 * 1024
/** Maximum size read of an error body; the message is at the beginning. */
const ERROR_BODY_BYTES = 64 * 1024
/** Maximum time to wait for an error body; the status is the important part. */
const ERROR_BODY_MS = 3000

/** The body of a response, read from the socket. */
export interface ByteSource {
  /**
   * Everything that arrived since the last call, never empty; null at the end. Rejects when the connection breaks or is
   * aborted. Only one call at a time.
   * @param gatherMs waits until this much time has passed since the last call resolved, so that tiny pieces are not read
   *   one by one. Resolves earlier at the end or with large amounts.
   */
  read(gatherMs?: number): Promise<readonly Buffer[] | null>
  /** Closes the socket at once. The pending and all later reads reject with the reason. */
  abort(reason: Error): void
  /** Stops reading. The connection is reused if the body ends within a second. */
  release(): void
}

export interface ProviderRequest {
  url: URL
  headers: Record<string, string>
  /** JSON text, sent with POST. Without it, the request is a GET. */
  body?: string
  /** Aborting closes the connection and rejects the promise with the signal's reason. */
  signal: AbortSignal
}

export type ProviderResponse =
  | { ok: true; status: number; headers: ResponseHeaders; body: ByteSource }
  /** A status other than 2xx, or 204. `text` is the beginning of the body. */
  | { ok: false; status: number; headers: ResponseHeaders; text: string }

/** By their names in lower case. (Making `Headers` of them costs more than reading one.) */
export interface ResponseHeaders {
  get(name: string): string | null | undefined
}

export interface ProviderHttp {
  /** Resolves when the headers have arrived. Rejects if there is no response. */
  request(request: ProviderRequest): Promise<ProviderResponse>
  /** Responses of which the body is being received. */
  readonly openBodies: number
  close(): Promise<void>
}

/** Create one per process; all models share it. */
export function createProviderHttp(): ProviderHttp {
  let agent: Promise<Agent> | undefined
  let openBodies = 0
  const count = (change: 1 | -1): void => {
    openBodies += change
  }
  return {
    async request(request) {
      agent ??= createAgent()
      return await dispatch(await agent, count, request)
    },
    get openBodies() {
      return openBodies
    },
    close: async () => (await agent)?.destroy(),
  }
}

/** Loaded by the first request, and without the rest of the package: 12 ms of CPU time instead of 45. */
async function createAgent(): Promise<Agent> {
  const { default: ConnectionPool } = await import('undici/lib/dispatcher/agent.js')
  return new ConnectionPool({
    // The caller sets the timeouts: a thinking model may be silent for a long time.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000 },
  })
}

/** @param count is called when a body begins and when it has ended. */
function dispatch(
  agent: Agent,
  count: (change: 1 | -1) => void,
  { url, headers, body: sent, signal }: ProviderRequest,
): Promise<ProviderResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortReason(signal))
    let body: Body | undefined
    let failing:
      | { status: number; headers: ResponseHeaders; parts: Buffer[]; bytes: number }
      | undefined
    let limit: NodeJS.Timeout | undefined
    let socket: Dispatcher.DispatchController | undefined
    // While connecting, there is no socket to close, so reject immediately.
    const stop = () => {
      socket?.abort(abortReason(signal))
      reject(abortReason(signal))
    }
    const stopListening = onAbort(signal, stop)
    const settled = () => {
      clearTimeout(limit)
      stopListening()
      if (body !== undefined) count(-1)
    }
    const resolveFailure = () => {
      if (failing === undefined) return
      const { status, headers, parts } = failing
      resolve({ ok: false, status, headers, text: Buffer.concat(parts).toString('utf8') })
    }
    const endFailure = () => {
      resolveFailure()
      socket?.abort(new Error('the rest of an error body is not read'))
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
          socket = controller
          if (signal.aborted) stop()
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
          body = createBody(controller)
          count(1)
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

interface Body {
  source: ByteSource
  push(chunk: Buffer): void
  /** The end, with the error if the body is incomplete. */
  end(error: Error | null): void
}

interface WaitingReader {
  resolve(value: readonly Buffer[] | null): void
  reject(error: Error): void
  /** Before this time (`performance.now`), only large amounts resolve the read. */
  notBefore: number
}

function createBody(controller: Dispatcher.DispatchController): Body {
  let pending: Buffer[] = []
  let pendingBytes = 0
  let ended = false
  let released = false
  let failure: Error | null = null
  let waiting: WaitingReader | null = null
  let lastRead = Number.NEGATIVE_INFINITY
  let gathering: NodeJS.Timeout | undefined

  const take = (): readonly Buffer[] => {
    const taken = pending
    pending = []
    pendingBytes = 0
    if (controller.paused) controller.resume()
    return taken
  }
  /** Resolves the waiting read if it is due. */
  const settle = (): void => {
    if (waiting === null) return
    if (pending.length === 0 && !ended) return
    if (!ended && pendingBytes < GATHERED_BYTES) {
      const early = waiting.notBefore - performance.now()
      if (early > 0.5) {
        gathering ??= setTimeout(() => {
          gathering = undefined
          settle()
        }, early)
        return
      }
    }
    clearTimeout(gathering)
    gathering = undefined
    const reader = waiting
    waiting = null
    lastRead = performance.now()
    if (pending.length > 0) reader.resolve(take())
    else if (failure === null) reader.resolve(null)
    else reader.reject(failure)
  }
  return {
    push(chunk) {
      if (released) return
      pending.push(chunk)
      pendingBytes += chunk.length
      settle()
      if (pendingBytes > MAX_UNREAD_BYTES) controller.pause()
    },
    end(error) {
      if (ended) return
      ended = true
      failure = error
      settle()
    },
    source: {
      read(gatherMs = 0) {
        return new Promise((resolve, reject) => {
          waiting = { resolve, reject, notBefore: lastRead + gatherMs }
          settle()
        })
      },
      abort: (reason) => controller.abort(reason),
      release() {
        if (ended) return
        released = true
        take()
        setTimeout(() => {
          if (!ended) controller.abort(new Error('released'))
        }, RELEASE_MS).unref()
      },
    },
  }
}

const abortReason = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError')
