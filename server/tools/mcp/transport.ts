// The transports to an MCP server, limited in time and size.
import { Readable } from 'node:stream'
import type { AuthProvider, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { errorText } from '../../errors.ts'
import type { McpProblem, McpServerSettings } from '../../protocol/models/mcp.ts'
import type { Sdk } from './sdk.ts'
import { createMender } from './transport/mend-messages.ts'

/** Maximum bytes of one response over HTTP. The stdio transport has the same limit of its own. */
export const MAX_RESPONSE_BYTES = 10 * 1024 * 1024
/** Maximum bytes per minute of a stream of notifications, which lasts as long as the connection. */
const MAX_NOTIFICATION_BYTES = MAX_RESPONSE_BYTES
/** Maximum lines per minute from a program, messages or not. More would leave the server little time for other work. */
const MAX_LINES = 20_000
const MINUTE_MS = 60_000
/** Slightly longer than a call may take. What the server sends later is ignored. */
const RESPONSE_TIMEOUT_MS = 130_000
const CHECK_EVERY_MS = 5_000

/** How to send requests to a server. */
export interface TransportOptions {
  /** Whether a call waits for a person. Until it continues, a response may take any time. */
  isWaiting(): boolean
  /** Provides the access token for each request, for servers that people sign in to. */
  authProvider?: AuthProvider | undefined
  /** Maximum bytes of one response. */
  maxResponseBytes: number
  /** Whether the server speaks only HTTP with SSE, the transport of the revision of 2024. */
  isOldTransport: boolean
  /** Receives what a program prints on its standard error. */
  onOutput(text: string): void
  /** Receives the odd elements of a list. `isWhole`: they replace the earlier ones of this kind. */
  onProblems(kind: McpProblem['kind'], problems: McpProblem[], isWhole: boolean): void
}

/** Creates the SDK's transport for a server with these settings. What the server sends is mended where it is odd. */
export function transportFor(
  settings: McpServerSettings,
  sdk: Sdk,
  options: TransportOptions,
): Transport {
  const transport = plainTransport(settings, sdk, options)
  const mend = createMender(transport, options.onProblems)
  intercept(transport, mend)
  return transport
}

function plainTransport(
  settings: McpServerSettings,
  sdk: Sdk,
  options: TransportOptions,
): Transport {
  if (settings.command !== undefined) {
    const transport = new sdk.StdioClientTransport({
      command: settings.command,
      args: settings.args ?? [],
      // The SDK adds PATH, HOME and similar variables, but nothing else of this process's environment.
      env: settings.env ?? {},
      ...(settings.cwd === undefined ? {} : { cwd: settings.cwd }),
      stderr: 'pipe',
      maxBufferSize: options.maxResponseBytes,
    })
    transport.stderr?.on('data', (chunk: Buffer) => options.onOutput(chunk.toString('utf8')))
    endFloods(transport)
    // The SDK starts a program a second time to find out which revision it speaks, unless its transport is not exactly its
    // own. Starting takes long, so the first start serves for both.
    Object.setPrototypeOf(transport, Object.create(sdk.StdioClientTransport.prototype))
    return transport
  }
  const common = {
    requestInit: { headers: settings.headers ?? {} },
    ...(options.authProvider === undefined ? {} : { authProvider: options.authProvider }),
  }
  const url = new URL(settings.url ?? '')
  const transport: Transport = options.isOldTransport
    ? new sdk.SSEClientTransport(url, {
        ...common,
        fetch: boundedFetch(options.isWaiting, {
          // Its library would open the stream again by itself, with a session that knows nothing of this one.
          onStreamEnd: () => void transport.close().catch(() => undefined),
        }),
      })
    : new sdk.StreamableHTTPClientTransport(url, {
        ...common,
        fetch: boundedFetch(options.isWaiting, {
          // The call has been answered: its caller learns why it does not get the answer.
          onTooLarge: (id) =>
            transport.onmessage?.({
              jsonrpc: '2.0',
              id,
              error: { code: -32_000, message: tooLarge(options.maxResponseBytes) },
            }),
        }),
      })
  return transport
}

const tooLarge = (bytes: number): string =>
  `The answer is larger than ${megabytes(bytes)}, so it was not read. The call has run. Ask for less.`

/** A limit in bytes, for people. */
export const megabytes = (bytes: number): string => `${bytes / 1024 / 1024} MB`

/** Whether a program sent a message beyond the limit of the transport, which ends it. */
export const isBufferFull = (fault: unknown): boolean =>
  /buffer.*(exceed|limit)|exceed.*buffer/i.test(errorText(fault))

/** Ends a program that prints too many lines. The SDK reads whatever it prints, without a pause and without a limit. */
function endFloods(transport: Transport): void {
  const isFlood = limitPerMinute(MAX_LINES)
  const start = transport.start.bind(transport)
  transport.start = async () => {
    await start()
    // The SDK does not offer what it reads from.
    const output: unknown = Reflect.get(Object(Reflect.get(transport, '_process')), 'stdout')
    if (!(output instanceof Readable)) return
    output.prependListener('data', (chunk: Buffer) => {
      if (!isFlood(linesIn(chunk))) return
      output.destroy()
      void transport.close().catch(() => undefined)
    })
  }
}

function linesIn(chunk: Buffer): number {
  let lines = 0
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
  return lines
}

/** Passes each message that arrives to `change` first. */
function intercept(transport: Transport, change: (message: JSONRPCMessage) => void): void {
  let receive: Transport['onmessage']
  // The client sets it when it connects.
  Object.defineProperty(transport, 'onmessage', {
    get: () => receive,
    set: (next: Transport['onmessage']) => {
      receive = (message, extra) => {
        change(message)
        next?.(message, extra)
      }
    },
  })
}

/** Returns a counter that reports whether more than `limit` were counted within a minute. */
function limitPerMinute(limit: number): (count: number) => boolean {
  let began = performance.now()
  let seen = 0
  return (count) => {
    if (performance.now() - began > MINUTE_MS) {
      began = performance.now()
      seen = 0
    }
    seen += count
    return seen > limit
  }
}

/**
 * Creates a fetch that aborts responses beyond the size or time limit. Streams of notifications (the GET of earlier
 * revisions, and `subscriptions/listen`) last as long as the connection and have a limit per minute.
 */
export const boundedFetch =
  (isWaiting: () => boolean, events: FetchEvents = {}) =>
  async (url: string | URL, init?: RequestInit): Promise<Response> => {
    // The library of the old transport names no method.
    if (
      (init?.method ?? 'GET') === 'GET' ||
      new Headers(init?.headers).get('mcp-method') === LISTEN
    ) {
      const response = await fetch(url, init)
      const onEnd = response.ok ? (events.onStreamEnd ?? (() => {})) : () => {}
      return withBody(response, limitPerMinute(MAX_NOTIFICATION_BYTES), onEnd)
    }
    const deadline = new AbortController()
    let left = RESPONSE_TIMEOUT_MS
    const timer = setInterval(() => {
      if (!isWaiting()) left -= CHECK_EVERY_MS
      if (left <= 0) deadline.abort(new Error('the response took too long'))
    }, CHECK_EVERY_MS).unref()
    const release = (): void => clearInterval(timer)
    deadline.signal.addEventListener('abort', release, { once: true })
    const signal =
      init?.signal == null ? deadline.signal : AbortSignal.any([init.signal, deadline.signal])
    try {
      let seen = 0
      const isTooLarge = (bytes: number): boolean => {
        seen += bytes
        if (seen <= MAX_RESPONSE_BYTES) return false
        const id = idOf(init?.body)
        if (id !== undefined) events.onTooLarge?.(id)
        return true
      }
      return withBody(await fetch(url, { ...init, signal }), isTooLarge, release)
    } catch (error) {
      release()
      throw error
    }
  }

/** What happens to the responses of a server. */
interface FetchEvents {
  /** The answer to the request with this id is beyond the size limit. */
  onTooLarge?(id: string | number): void
  /** A stream of notifications has ended, in any way. */
  onStreamEnd?(): void
}

const Identified = z.object({ id: z.union([z.string(), z.number()]) })

/** The id of a JSON-RPC request. */
function idOf(body: unknown): string | number | undefined {
  if (typeof body !== 'string') return undefined
  try {
    return Identified.safeParse(JSON.parse(body)).data?.id
  } catch {
    // A notification or a batch.
    return undefined
  }
}

const LISTEN = 'subscriptions/listen'

/** The same response, up to a limit. `release` is called when its body ends in any way. */
function withBody(
  { body, status, statusText, headers }: Response,
  isTooMuch: (bytes: number) => boolean,
  release: () => void,
): Response {
  if (body !== null)
    return new Response(bounded(body, isTooMuch, release), { status, statusText, headers })
  release()
  return new Response(null, { status, statusText, headers })
}

function bounded(
  body: ReadableStream<Uint8Array>,
  isTooMuch: (bytes: number) => boolean,
  release: () => void,
): ReadableStream<Uint8Array<ArrayBufferLike>> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          release()
          controller.close()
          return
        }
        if (isTooMuch(value.byteLength)) throw new Error('the response is too large')
        controller.enqueue(value)
      } catch (error) {
        release()
        void reader.cancel(error).catch(() => undefined)
        controller.error(error)
      }
    },
    async cancel(reason) {
      release()
      await reader.cancel(reason)
    },
  })
}
