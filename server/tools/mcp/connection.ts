// The connection to one MCP server: opened on first use, watched, and reopened with growing pauses after it breaks.
import type { AuthProvider } from '@modelcontextprotocol/client'
import { appError, errorText } from '../../errors.ts'
import { deadline, onAbort } from '../../lib/abort.ts'
import { type DescribedFailure, storedFailure } from '../../protocol/failures/stored.ts'
import type {
  McpEra,
  McpProblem,
  McpServerSettings,
  McpServerStatus,
} from '../../protocol/models/mcp.ts'
import type { InputAnswer } from '../../protocol/runs/input.ts'
import { brief, type RemoteAnswer, type RemoteCall, sendCall } from './call.ts'
import { explain, isSignInWanted, statusOf } from './faults.ts'
import { listTools, NOTHING_LISTED } from './listing.ts'
import { createClientOpener } from './open-client.ts'
import { loadSdk, type RemoteClient, type RemoteTool } from './sdk.ts'
import {
  CALL_WAITS_MS,
  FIRST_PAUSE_MS,
  LASTING_MS,
  LONGEST_PAUSE_MS,
  LONGEST_START_PAUSE_MS,
  pauseAfter,
} from './timing.ts'
import { isBufferFull, MAX_RESPONSE_BYTES, megabytes } from './transport.ts'
import { watchConnection } from './watch.ts'

/** A connection to one MCP server that reconnects until it is closed. */
export interface McpConnection {
  /** The server's name in the configuration. */
  readonly server: string
  /** The host of the server's address; null for a program on this machine. */
  readonly host: string | null
  readonly status: McpServerStatus
  /** The generation of the protocol that the server speaks; null before the first connection. */
  readonly era: McpEra | null
  /** Why the server is not connected, for a person; null if it is. Technical details go to the log. */
  readonly error: DescribedFailure | null
  /** The end of what a program printed on its standard error. May hold secrets. */
  readonly output: string
  /** What was odd in the server's lists: left out or mended. */
  readonly problems: readonly McpProblem[]
  /** The tools that the server listed last. They stay while it is unreachable, so that calls report that instead. */
  readonly tools: readonly RemoteTool[]
  /** Connects, and reconnects until closed. Resolves when the first attempt has ended, successful or not. */
  open(): Promise<void>
  /** Reads the list of tools again in the background if it has expired. */
  freshen(): void
  /** Performs another request with the connected client. @throws AppError if not connected, and what `work` throws. */
  use<Result>(work: (client: RemoteClient) => Promise<Result>): Promise<Result>
  /** Calls a tool once. A call is sent again only if the server reported that it did not run it. */
  call(call: RemoteCall): Promise<RemoteAnswer>
  /** Closes the connection. A child process ends within seconds. */
  close(): Promise<void>
}

/** The options of a connection to one MCP server. */
export interface McpConnectionOptions {
  name: string
  settings: McpServerSettings
  /** Called when the list of tools or the status has changed. */
  onChange(): void
  log(message: string, detail: Record<string, unknown>): void
  /** The pause before the first reconnect, in milliseconds; for tests. */
  firstPauseMs?: number
  /** Maximum bytes of one response; for tests. */
  maxResponseBytes?: number
  /**
   * Waits until another program may start; those that were never tried are first. Call what it resolves with once this one has
   * started.
   */
  starts(isFirst: boolean): Promise<() => void>
  authProvider?: AuthProvider | undefined
  /** Called when the server requires an access token, or another one. The connection does not retry. */
  onSignIn?: (() => void) | undefined
}

const MAX_PROBLEMS = 100
/** Errors of one connection. A server can cause thousands each second. */
const MAX_LOGGED_FAULTS = 20
/** Characters of the output of a program. */
const MAX_OUTPUT = 4_000

/** One MCP server, over stdio or streamable HTTP, through the official SDK. */
export function createMcpConnection(options: McpConnectionOptions): McpConnection {
  const { name, settings } = options
  const firstPauseMs = options.firstPauseMs ?? FIRST_PAUSE_MS
  const maxResponseBytes = options.maxResponseBytes ?? MAX_RESPONSE_BYTES
  const opener = createClientOpener(settings, {
    maxResponseBytes,
    isWaiting: () => asking > 0,
    authProvider: options.authProvider,
    onOutput(text) {
      output = (output + text).slice(-MAX_OUTPUT)
    },
    onProblems(kind, found, isWhole) {
      const others = problems.filter((one) => !isWhole || one.kind !== kind)
      problems = [...others, ...found].slice(0, MAX_PROBLEMS)
    },
  })
  let problems: readonly McpProblem[] = []
  /** Errors that the current connection has reported: of lines that are no messages, of responses that nobody waits for. */
  let faults = 0
  /** The end of what the program printed since its last start. */
  let output = ''
  let status: McpServerStatus = 'connecting'
  let error: DescribedFailure | null = null
  let listing = NOTHING_LISTED
  let current: { client: RemoteClient; watch: AbortController; since: number } | null = null
  /** Aborts the attempt in progress. */
  let giveUp: (() => Promise<void>) | null = null
  let attempt: Promise<void> | null = null
  let refreshing: Promise<void> | null = null
  let failures = 0
  let hasConnected = false
  let closed = false
  /** Whether the program sent a message that is too large, which ended its connection. */
  let isTooLarge = false
  const inFlight = new Set<RemoteCall>()
  /** Number of questions of this server that a person is being asked. */
  let asking = 0
  let retryTimer: NodeJS.Timeout | undefined

  const change = (next: McpServerStatus, why: DescribedFailure | null): void => {
    status = next
    error = why
    options.onChange()
  }

  /** Drops a broken connection and schedules a reconnect; later events of the same connection are ignored. */
  const lost = (client: RemoteClient, cause: unknown): void => {
    if (current?.client !== client) return
    // A connection that is lost right after it opens, again and again, is also reopened with growing pauses.
    if (performance.now() - current.since > LASTING_MS) failures = 0
    current.watch.abort()
    current = null
    void client.close().catch(() => undefined)
    plan(cause)
  }

  const plan = (cause: unknown): void => {
    if (closed) return
    const isStart = settings.command !== undefined && !hasConnected
    const longestMs = isStart ? LONGEST_START_PAUSE_MS : LONGEST_PAUSE_MS
    const pause = pauseAfter(failures, firstPauseMs, longestMs)
    failures += 1
    options.log('an MCP server is not connected', {
      server: name,
      cause: errorText(cause),
      pause_ms: pause,
    })
    clearTimeout(retryTimer)
    retryTimer = setTimeout(() => void connect(), pause)
    retryTimer.unref()
    change('waiting', explain(cause, settings))
  }

  const wantSignIn = (): void => {
    closed = true
    change('waiting', storedFailure('mcp_sign_in_needed'))
    options.onSignIn?.()
  }

  const connect = (): Promise<void> => {
    attempt ??= tryToConnect().finally(() => {
      attempt = null
    })
    return attempt
  }

  async function tryToConnect(): Promise<void> {
    if (closed || current !== null) return
    clearTimeout(retryTimer)
    if (status !== 'connecting') change('connecting', error)
    const release = settings.command === undefined ? () => {} : await options.starts(failures === 0)
    try {
      if (closed) return
      const client = await opener.open(
        (created, give) => {
          output = ''
          faults = 0
          giveUp = give
          created.setRequestHandler('elicitation/create', ({ params }) => answerInput(params))
          created.onclose = () => lost(created, new Error('the connection was closed'))
          created.onerror = (fault) => {
            isTooLarge ||= isBufferFull(fault)
            faults += 1
            if (faults > MAX_LOGGED_FAULTS) return
            options.log('an MCP connection reported an error', {
              server: name,
              cause: brief(fault),
              ...(faults === MAX_LOGGED_FAULTS ? { further: 'not logged' } : {}),
            })
          }
        },
        () => closed,
      )
      const listed = await listTools(client)
      if (closed) return void (await client.close())
      isTooLarge = false
      hasConnected = true
      const watch = new AbortController()
      current = { client, watch, since: performance.now() }
      listing = listed
      change('connected', null)
      watchConnection({
        client,
        signal: watch.signal,
        firstPauseMs,
        onListChange: refresh,
        onLost: (cause) => lost(client, cause),
      })
    } catch (fault) {
      await giveUp?.()
      if (options.onSignIn !== undefined && isSignInWanted(fault)) wantSignIn()
      else plan(fault)
    } finally {
      release()
      giveUp = null
    }
  }

  /**
   * Answers a question from a server of an earlier revision. The question does not say which call it belongs to, and nobody
   * may be asked on behalf of another user's call, so there must be exactly one call.
   */
  const answerInput = async (params: unknown): Promise<InputAnswer> => {
    const [call, other] = inFlight
    if (call === undefined || other !== undefined) {
      options.log('an MCP server asked for input that belongs to no call', {
        server: name,
        calls: inFlight.size,
      })
      return { action: 'cancel' }
    }
    asking += 1
    try {
      return await call.onInput(params)
    } finally {
      asking -= 1
    }
  }

  /** Reads the tools again. If they change meanwhile, reads them once more. */
  const refresh = async (): Promise<void> => {
    await refreshing
    const client = current?.client
    if (client === undefined) return
    refreshing = listTools(client)
      .then((listed) => {
        if (current?.client !== client) return
        listing = listed
        options.onChange()
      })
      .catch((fault: unknown) => lost(client, fault))
      .finally(() => {
        refreshing = null
      })
    await refreshing
  }

  const ready = async (signal: AbortSignal): Promise<RemoteClient | null> => {
    if (current === null && !closed) {
      const waited = deadline(CALL_WAITS_MS, signal)
      await Promise.race([connect(), aborted(waited)])
    }
    return current?.client ?? null
  }

  return {
    server: name,
    host: settings.url === undefined ? null : new URL(settings.url).host,
    get status() {
      return status
    },
    get era() {
      return opener.era
    },
    get error() {
      return error
    },
    get output() {
      return output
    },
    get problems() {
      return [...problems, ...listing.problems]
    },
    get tools() {
      return listing.tools
    },
    open: connect,
    freshen() {
      if (refreshing === null && Date.now() >= listing.staleAt) void refresh()
    },
    async use(work) {
      const client = await ready(AbortSignal.timeout(CALL_WAITS_MS))
      if (client === null) throw appError('mcp_not_connected', { server: name })
      return await work(client)
    },
    async call(call) {
      for (let attempt = 1; ; attempt += 1) {
        const client = await ready(call.signal)
        if (client === null) return { ok: false, error: notReached(name, error), reached: false }
        const known = listing.tools.find((tool) => tool.name === call.tool.name) ?? call.tool
        const sdk = await loadSdk()
        inFlight.add(call)
        const outcome = await sendCall(client, sdk, { ...call, tool: known })
        inFlight.delete(call)
        switch (outcome.kind) {
          case 'result':
            return { ok: true, result: outcome.result }
          case 'input':
            return { ok: 'input', requests: outcome.requests, state: outcome.state }
          case 'pages':
            return { ok: 'pages', elicitations: outcome.elicitations }
          case 'stopped':
            return { ok: false, error: 'The call was stopped.', reached: true }
          case 'stale_headers':
            if (attempt === 1) {
              await refresh()
              continue
            }
            return refused(outcome.fault)
          case 'answered':
            return refused(outcome.fault)
          case 'sign_in':
            if (options.onSignIn === undefined) return notRun(name, outcome.fault)
            lost(client, outcome.fault)
            wantSignIn()
            return { ok: false, error: notReached(name, error), reached: false }
          case 'not_run':
            return notRun(name, outcome.fault)
          case 'not_sent':
            lost(client, outcome.fault)
            return { ok: false, error: notReached(name, error), reached: false }
          case 'session_lost':
          case 'broken':
            lost(client, outcome.fault)
            // A server that does not know the session has not run the call.
            if (outcome.kind === 'session_lost')
              if (attempt === 1) continue
              else return notRun(name, outcome.fault)
            return {
              ok: false,
              error: isTooLarge
                ? `The MCP server '${name}' sent more than ${megabytes(maxResponseBytes)} at once, so the connection to it was ended. The call has probably taken effect; its result is not known. Ask for less.`
                : `The connection to the MCP server '${name}' was lost during the call; the call may or may not have taken effect.`,
              reached: true,
            }
        }
      }
    },
    async close() {
      closed = true
      clearTimeout(retryTimer)
      const last = current
      current = null
      last?.watch.abort()
      await Promise.allSettled([last?.client.close(), giveUp?.()])
      await attempt
    },
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => void onAbort(signal, resolve))

const refused = (fault: unknown): RemoteAnswer => ({
  ok: false,
  error: `The server rejected the call: ${brief(fault)}`,
  reached: true,
})

const notRun = (name: string, fault: unknown): RemoteAnswer => {
  const status = statusOf(fault)
  const cause =
    status === 401
      ? 'its credentials were not accepted'
      : `HTTP ${status ?? 'error'}: ${brief(fault).slice(0, 300)}`
  return {
    ok: false,
    error: `The MCP server '${name}' refused the call before it ran (${cause}). Nothing was changed.`,
    reached: false,
  }
}

const notReached = (name: string, error: DescribedFailure | null): string =>
  `The MCP server '${name}' is not available${error === null ? '' : ` (${error.message})`}; the call was not made. Continue without this tool; it may be available again later.`
