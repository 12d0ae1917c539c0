// The HTTP under the `openai` package: its requests go out by undici's dispatcher, and the bytes of an answer are read without web streams.
import { Agent, type Dispatcher } from 'undici'

/** More than this waits unread: the socket is held back until the reader has caught up. */
const HELD_BACK_BYTES = 1024 * 1024
const RELEASE_MS = 1000
/** So much is handed over before the time of gathering is over. */
const GATHERED_BYTES = 64 * 1024
/** What is kept of an error's body; its message is in the beginning. */
const ERROR_BODY_BYTES = 64 * 1024
/** So long an error's body is waited for; its status says the most. */
const ERROR_BODY_MS = 3000

/** The body of one answer, as it comes off the socket. */
export interface ByteSource {
  /**
   * Everything that has arrived since the last call, waiting for at least something; null at the end.
   * Rejects when the connection breaks or was aborted. One reader, one call at a time.
   * @param gatherMs how long after the answer of the last call more is gathered, so that a stream of tiny pieces is
   *   not read one by one. The end and a lot of bytes are told at once.
   */
  read(gatherMs?: number): Promise<readonly Buffer[] | null>
  /** Closes the socket at once; the pending and all later reads reject with the reason. */
  abort(reason: Error): void
  /** Nobody reads any more: the connection is kept for the next request if the body ends within a second. */
  release(): void
}

export interface ByteFetch {
  /** To be given to the `openai` package. The body of a successful `Response` is empty: take it from `bodyOf`. */
  fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>
  /** The body of a successful response of this fetch. */
  bodyOf(response: Response): ByteSource | undefined
  close(): Promise<void>
}

/** One pool of connections, shared by every model of a process. */
export function createByteFetch(): ByteFetch {
  const agent = new Agent({
    // The idle limits are the caller's; a long silence of a thinking model is no fault down here.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000 },
  })
  const bodies = new WeakMap<Response, ByteSource>()
  return {
    async fetch(url, init) {
      const target = new URL(url instanceof Request ? url.url : url)
      const { response, source } = await request(agent, target, init ?? {})
      if (source !== undefined) bodies.set(response, source)
      return response
    },
    bodyOf: (response) => bodies.get(response),
    close: () => agent.destroy(),
  }
}

interface Opened {
  response: Response
  source?: ByteSource
}

function request(agent: Agent, target: URL, init: RequestInit): Promise<Opened> {
  const signal = init.signal ?? undefined
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortReason(signal))
    let body: Body | undefined
    let failing: { status: number; headers: Headers; parts: Buffer[]; bytes: number } | undefined
    let limit: NodeJS.Timeout | undefined
    let socket: Dispatcher.DispatchController | undefined
    // While it is still connecting there is no socket to close; whoever waits is told at once all the same.
    const onAbort = () => {
      socket?.abort(abortReason(signal))
      reject(abortReason(signal))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const settled = () => {
      clearTimeout(limit)
      signal?.removeEventListener('abort', onAbort)
    }
    const answerFailure = () => {
      if (failing === undefined) return
      const { status, headers, parts } = failing
      // A 204 or 304 may not carry a body in a `Response`; they are failures here all the same.
      const text = status === 204 || status === 304 ? null : Buffer.concat(parts).toString('utf8')
      resolve({ response: new Response(text, { status: Math.min(status, 599), headers }) })
    }
    const endFailure = () => {
      answerFailure()
      socket?.abort(new Error('the rest of an error body is not read'))
    }
    agent.dispatch(
      {
        origin: target.origin,
        path: target.pathname + target.search,
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        // The `openai` package sends JSON text and nothing else.
        body: typeof init.body === 'string' ? init.body : null,
      },
      {
        onRequestStart(controller) {
          socket = controller
          if (signal?.aborted) onAbort()
        },
        onResponseStart(controller, status, rawHeaders) {
          if (status < 200) return
          const headers = new Headers()
          for (const [name, value] of Object.entries(rawHeaders))
            if (value !== undefined) headers.set(name, String(value))
          if (status >= 300 || status === 204) {
            failing = { status, headers, parts: [], bytes: 0 }
            limit = setTimeout(endFailure, ERROR_BODY_MS)
            return
          }
          body = createBody(controller)
          resolve({ response: new Response(null, { status, headers }), source: body.source })
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
          answerFailure()
        },
        onResponseError(_controller, error) {
          settled()
          body?.end(error)
          answerFailure()
          reject(error)
        },
      } satisfies Dispatcher.DispatchHandler,
    )
  })
}

interface Body {
  source: ByteSource
  push(chunk: Buffer): void
  /** The end; with the fault when there was one. */
  end(error: Error | null): void
}

interface WaitingReader {
  resolve(value: readonly Buffer[] | null): void
  reject(error: Error): void
  /** When it may be answered with less than a lot, by `performance.now`. */
  notBefore: number
}

function createBody(controller: Dispatcher.DispatchController): Body {
  let pending: Buffer[] = []
  let pendingBytes = 0
  let ended = false
  let released = false
  let failure: Error | null = null
  let waiting: WaitingReader | null = null
  let lastAnswer = Number.NEGATIVE_INFINITY
  let gathering: NodeJS.Timeout | undefined

  const take = (): readonly Buffer[] => {
    const taken = pending
    pending = []
    pendingBytes = 0
    if (controller.paused) controller.resume()
    return taken
  }
  /** Answers whoever waits, if it is time. */
  const answer = (): void => {
    if (waiting === null) return
    if (pending.length === 0 && !ended) return
    if (!ended && pendingBytes < GATHERED_BYTES) {
      const early = waiting.notBefore - performance.now()
      if (early > 0.5) {
        gathering ??= setTimeout(() => {
          gathering = undefined
          answer()
        }, early)
        return
      }
    }
    clearTimeout(gathering)
    gathering = undefined
    const reader = waiting
    waiting = null
    lastAnswer = performance.now()
    if (pending.length > 0) reader.resolve(take())
    else if (failure === null) reader.resolve(null)
    else reader.reject(failure)
  }
  return {
    push(chunk) {
      if (released) return
      pending.push(chunk)
      pendingBytes += chunk.length
      answer()
      if (pendingBytes > HELD_BACK_BYTES) controller.pause()
    },
    end(error) {
      if (ended) return
      ended = true
      failure = error
      answer()
    },
    source: {
      read(gatherMs = 0) {
        return new Promise((resolve, reject) => {
          waiting = { resolve, reject, notBefore: lastAnswer + gatherMs }
          answer()
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

const abortReason = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError')
