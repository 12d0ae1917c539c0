// The connection to one MCP server: opened lazily, watched, and reopened with growing pauses when it breaks.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { errorText } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { DescribedFailure } from '../../protocol/failures/stored.ts'
import type { McpServerSettings, McpServerStatus } from '../../protocol/mcp.ts'
import type { ToolProgress } from '../../protocol/tool-progress.ts'
import {
  CONNECT_TIMEOUT_MS,
  explain,
  kindOf,
  listTools,
  loadSdk,
  type RemoteProgress,
  type RemoteResult,
  type RemoteTool,
  transportFor,
} from './remote.ts'

const PING_TIMEOUT_MS = 10_000
const PING_EVERY_MS = 30_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** A call to a server that is still connecting waits this long. */
const CALL_WAITS_MS = 10_000

/** The outcome of a call: the server's result, or why there is none. */
export type RemoteAnswer =
  | { ok: true; result: RemoteResult }
  | { ok: false; error: string; reached: boolean }

export interface McpConnection {
  readonly name: string
  readonly status: McpServerStatus
  /** Why it is not connected, for a person; technical details go to the log. */
  readonly error: DescribedFailure | null
  /**
   * The tools that were last listed. They stay while the server is away, so that a call says so instead of 'unknown
   * tool'.
   */
  readonly tools: readonly RemoteTool[]
  /** Connects, and reconnects until closed. Resolves when the first attempt has ended, whether it succeeded or not. */
  open(): Promise<void>
  /**
   * Calls a tool once. A call is only sent again when the server said that it does not know the session. Never throws.
   * Aborting the signal notifies the server and resolves at once.
   */
  call(
    tool: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; timeoutMs: number; onProgress(progress: ToolProgress): void },
  ): Promise<RemoteAnswer>
  /** Closes the connection; a child process is gone within seconds. */
  close(): Promise<void>
}

export interface McpConnectionOptions {
  name: string
  settings: McpServerSettings
  /** Called when the list of tools or the state has changed. */
  onChange(): void
  log(message: string, detail: Record<string, unknown>): void
  /** For tests: the pause before the first reconnect, in milliseconds. */
  firstPauseMs?: number
}

/** One MCP server, over stdio or streamable HTTP, through the official SDK. */
export function createMcpConnection(options: McpConnectionOptions): McpConnection {
  const { name, settings } = options
  const firstPause = options.firstPauseMs ?? FIRST_PAUSE_MS
  let status: McpServerStatus = 'connecting'
  let error: DescribedFailure | null = null
  let tools: readonly RemoteTool[] = []
  let client: Client | null = null
  let opening: Client | null = null
  let attempt: Promise<void> | null = null
  let failures = 0
  let closed = false
  let retryTimer: NodeJS.Timeout | undefined
  let pingTimer: NodeJS.Timeout | undefined

  const change = (next: McpServerStatus, why: DescribedFailure | null): void => {
    status = next
    error = why
    options.onChange()
  }

  /** Drops a broken connection and schedules a reconnect; later events of the same connection are ignored. */
  const lost = (which: Client, cause: unknown): void => {
    if (client !== which) return
    client = null
    clearInterval(pingTimer)
    void which.close().catch(() => undefined)
    plan(cause)
  }

  const plan = (cause: unknown): void => {
    if (closed) return
    const pause = Math.min(firstPause * 2 ** failures, LONGEST_PAUSE_MS)
    failures += 1
    options.log('an MCP server is not connected', {
      server: name,
      cause: errorText(cause),
      pause_ms: pause,
    })
    clearTimeout(retryTimer)
    retryTimer = setTimeout(() => void connect(), pause)
    retryTimer.unref()
    change('waiting', explain(cause))
  }

  const connect = (): Promise<void> => {
    attempt ??= tryToConnect().finally(() => {
      attempt = null
    })
    return attempt
  }

  async function tryToConnect(): Promise<void> {
    if (closed || client !== null) return
    clearTimeout(retryTimer)
    if (status !== 'connecting') change('connecting', error)
    const sdk = await loadSdk()
    const next = new sdk.Client(
      { name: 'nanoclaw', version: '1' },
      {
        capabilities: {},
        listChanged: {
          tools: { autoRefresh: false, onChanged: () => void refresh(next) },
        },
      },
    )
    opening = next
    try {
      next.onclose = () => lost(next, new Error('the connection was closed'))
      next.onerror = (fault) =>
        options.log('an MCP connection reported an error', {
          server: name,
          cause: errorText(fault),
        })
      await next.connect(transportFor(settings, sdk), { timeout: CONNECT_TIMEOUT_MS })
      const listed = await listTools(next, sdk)
      if (closed) return void (await next.close())
      client = next
      tools = listed
      failures = 0
      pingTimer = setInterval(() => void checkAlive(next), PING_EVERY_MS)
      pingTimer.unref()
      change('connected', null)
    } catch (fault) {
      await next.close().catch(() => undefined)
      plan(fault)
    } finally {
      opening = null
    }
  }

  const checkAlive = async (which: Client): Promise<void> => {
    try {
      await which.ping({ timeout: PING_TIMEOUT_MS })
    } catch (fault) {
      lost(which, fault)
    }
  }

  const refresh = async (which: Client): Promise<void> => {
    try {
      const listed = await listTools(which, await loadSdk())
      if (client !== which) return
      tools = listed
      options.onChange()
    } catch (fault) {
      lost(which, fault)
    }
  }

  const ready = async (signal: AbortSignal): Promise<Client | null> => {
    if (client === null && !closed) {
      const waited = AbortSignal.any([signal, AbortSignal.timeout(CALL_WAITS_MS)])
      await Promise.race([connect(), aborted(waited)])
    }
    return client
  }

  return {
    name,
    get status() {
      return status
    },
    get error() {
      return error
    },
    get tools() {
      return tools
    },
    open: connect,
    async call(tool, input, call) {
      for (let attempt = 1; ; attempt += 1) {
        const current = await ready(call.signal)
        if (current === null) return { ok: false, error: notReached(name, error), reached: false }
        try {
          const sdk = await loadSdk()
          const result = await current.request(
            { method: 'tools/call', params: { name: tool, arguments: input } },
            sdk.CallToolResultSchema,
            {
              signal: call.signal,
              timeout: call.timeoutMs,
              maxTotalTimeout: call.timeoutMs,
              onprogress: (notification) => call.onProgress(progressOf(notification)),
            },
          )
          return { ok: true, result }
        } catch (fault) {
          if (call.signal.aborted)
            return { ok: false, error: 'The call was stopped.', reached: true }
          const kind = kindOf(fault)
          if (kind === 'answered')
            return {
              ok: false,
              error: `The server refused the call: ${brief(fault)}`,
              reached: true,
            }
          if (kind === 'slow')
            return {
              ok: false,
              error: `The server did not respond within ${call.timeoutMs / 1000} s.`,
              reached: true,
            }
          lost(current, fault)
          // A server that does not know the session has not run the call: it may be sent once more in a new session.
          if (kind === 'session_lost' && attempt === 1) continue
          return {
            ok: false,
            error: `The connection to the MCP server '${name}' was lost during the call; it is unknown whether the call took effect.`,
            reached: true,
          }
        }
      }
    },
    async close() {
      closed = true
      clearTimeout(retryTimer)
      clearInterval(pingTimer)
      const last = client
      client = null
      await Promise.allSettled([last?.close(), opening?.close()])
      await attempt
    },
  }
}

const MAX_LINE_CHARACTERS = 2_000

/** What the server says in words, else the numbers it gives; those may be fractions. */
const progressOf = ({ message, progress, total }: RemoteProgress): ToolProgress =>
  message !== undefined
    ? { kind: 'text', text: message.slice(0, MAX_LINE_CHARACTERS) }
    : {
        kind: 'count',
        done: Math.round(progress),
        ...(total === undefined ? {} : { total: Math.round(total) }),
      }

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => void onAbort(signal, resolve))

const brief = (fault: unknown): string => errorText(fault).slice(0, 1000)

const notReached = (name: string, error: DescribedFailure | null): string =>
  `The MCP server '${name}' is not available${error === null ? '' : ` (${error.message})`}; the call was not made. The server is being reconnected: continue without this tool or retry later.`
