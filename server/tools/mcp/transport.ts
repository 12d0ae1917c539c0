// The transports to an MCP server, with limits on time and size.
import type { AuthProvider, Transport } from '@modelcontextprotocol/client'
import type { McpServerSettings } from '../../protocol/models/mcp.ts'
import type { Sdk } from './sdk.ts'

/** Bytes of one response over HTTP; the stdio transport has the same limit of its own. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024
/** A little more than a call may take; what the server sends later is ignored. */
const RESPONSE_TIMEOUT_MS = 130_000
const CHECK_EVERY_MS = 5_000

export interface TransportOptions {
  /** Whether a call waits for a person: meanwhile a response may take as long as it does. */
  isWaiting(): boolean
  /** Gives the access token of each request, for servers that people sign in to. */
  authProvider?: AuthProvider | undefined
}

/** How the SDK reaches a server with these settings. */
export function transportFor(
  settings: McpServerSettings,
  sdk: Sdk,
  options: TransportOptions,
): Transport {
  if (settings.command !== undefined)
    return new sdk.StdioClientTransport({
      command: settings.command,
      args: settings.args ?? [],
      // The SDK adds PATH, HOME and the like, and nothing else of this process's environment.
      env: settings.env ?? {},
      ...(settings.cwd === undefined ? {} : { cwd: settings.cwd }),
      // The server's own log may contain secrets, so it is discarded.
      stderr: 'ignore',
      maxBufferSize: MAX_RESPONSE_BYTES,
    })
  return new sdk.StreamableHTTPClientTransport(new URL(settings.url ?? ''), {
    requestInit: { headers: settings.headers ?? {} },
    fetch: boundedFetch(options.isWaiting),
    ...(options.authProvider === undefined ? {} : { authProvider: options.authProvider }),
  })
}

/**
 * A fetch that aborts responses beyond the size or time limit. Streams of notifications live as long as the connection:
 * the GET of earlier revisions and `subscriptions/listen`.
 */
export const boundedFetch =
  (isWaiting: () => boolean) =>
  async (url: string | URL, init?: RequestInit): Promise<Response> => {
    if (init?.method === 'GET' || new Headers(init?.headers).get('mcp-method') === LISTEN)
      return await fetch(url, init)
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
      const response = await fetch(url, { ...init, signal })
      if (response.body === null) {
        release()
        return response
      }
      const { status, statusText, headers } = response
      return new Response(bounded(response.body, release), { status, statusText, headers })
    } catch (error) {
      release()
      throw error
    }
  }

const LISTEN = 'subscriptions/listen'

/** The same bytes, up to the limit; `release` is called when the stream ends in any way. */
function bounded(
  body: ReadableStream<Uint8Array>,
  release: () => void,
): ReadableStream<Uint8Array<ArrayBufferLike>> {
  const reader = body.getReader()
  let seen = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          release()
          controller.close()
          return
        }
        seen += value.byteLength
        if (seen > MAX_RESPONSE_BYTES) throw new Error('the response is too large')
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
