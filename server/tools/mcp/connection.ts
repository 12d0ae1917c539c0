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
import { listTools, NOTHING_LISTED, type ToolListing } from './connection/listing.ts'
import { type ClientOpener, createClientOpener } from './connection/open-client.ts'
import { watchConnection } from './connection/watch.ts'
import { explain, isSignInWanted, statusOf } from './faults.ts'
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
  /** Whether apps of the server can be shown. Default: false. */
  offersApps?: boolean | undefined
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

/** What is known about the server and the connection to it. Only the functions below `createMcpConnection` change it. */
interface Connection {
  readonly options: McpConnectionOptions
  readonly opener: ClientOpener
  readonly firstPauseMs: number
  readonly maxResponseBytes: number
  status: McpServerStatus
  error: DescribedFailure | null
  problems: readonly McpProblem[]
  /** The end of what the program printed since its last start. */
  output: string
  listing: ToolListing
  current: { client: RemoteClient; watch: AbortController; since: number } | null
  /** Errors that the current connection has reported: of lines that are no messages, of responses that nobody waits for. */
  faults: number
  attempt: Promise<void> | null
  /** Aborts the attempt in progress. */
  giveUp: (() => Promise<void>) | null
  refreshing: Promise<void> | null
  failures: number
  retryTimer: NodeJS.Timeout | undefined
  hasConnected: boolean
  closed: boolean
  /** Whether the program sent a message that is too large, which ended its connection. */
  isTooLarge: boolean
  readonly inFlight: Set<RemoteCall>
  /** Number of questions of this server that a person is being asked. */
  asking: number
}

/** One MCP server, over stdio or streamable HTTP, through the official SDK. */
export function createMcpConnection(options: McpConnectionOptions): McpConnection {
  const { name, settings } = options
  const maxResponseBytes = options.maxResponseBytes ?? MAX_RESPONSE_BYTES
  const opener = createClientOpener(settings, {
    maxResponseBytes,
    offersApps: options.offersApps === true,
    isWaiting: () => connection.asking > 0,
    authProvider: options.authProvider,
    onOutput(text) {
      connection.output = (connection.output + text).slice(-MAX_OUTPUT)
    },
    onProblems(kind, found, isWhole) {
      const others = connection.problems.filter((one) => !isWhole || one.kind !== kind)
      connection.problems = [...others, ...found].slice(0, MAX_PROBLEMS)
    },
  })
  const connection: Connection = {
    options,
    opener,
    firstPauseMs: options.firstPauseMs ?? FIRST_PAUSE_MS,
    maxResponseBytes,
    status: 'connecting',
    error: null,
    problems: [],
    output: '',
    listing: NOTHING_LISTED,
    current: null,
    faults: 0,
    attempt: null,
    giveUp: null,
    refreshing: null,
    failures: 0,
    retryTimer: undefined,
    hasConnected: false,
    closed: false,
    isTooLarge: false,
    inFlight: new Set(),
    asking: 0,
  }
  return {
    server: name,
    host: settings.url === undefined ? null : new URL(settings.url).host,
    get status() {
      return connection.status
    },
    get era() {
      return opener.era
    },
    get error() {
      return connection.error
    },
    get output() {
      return connection.output
    },
    get problems() {
      return [...connection.problems, ...connection.listing.problems]
    },
    get tools() {
      return connection.listing.tools
    },
    open: () => connect(connection),
    freshen() {
      const { refreshing, listing } = connection
      if (refreshing === null && Date.now() >= listing.staleAt) void refresh(connection)
    },
    async use(work) {
      const client = await ready(connection, AbortSignal.timeout(CALL_WAITS_MS))
      if (client === null) throw appError('mcp_not_connected', { server: name })
      return await work(client)
    },
    call: (call) => performCall(connection, call),
    close: () => close(connection),
  }
}

function change(connection: Connection, next: McpServerStatus, why: DescribedFailure | null): void {
  connection.status = next
  connection.error = why
  connection.options.onChange()
}

/** Drops a broken connection and schedules a reconnect; later events of the same connection are ignored. */
function lose(connection: Connection, client: RemoteClient, cause: unknown): void {
  const { current } = connection
  if (current?.client !== client) return
  // A connection that is lost right after it opens, again and again, is also reopened with growing pauses.
  if (performance.now() - current.since > LASTING_MS) connection.failures = 0
  current.watch.abort()
  connection.current = null
  void client.close().catch(() => undefined)
  planReconnect(connection, cause)
}

function planReconnect(connection: Connection, cause: unknown): void {
  if (connection.closed) return
  const { options, failures, firstPauseMs } = connection
  const isStart = options.settings.command !== undefined && !connection.hasConnected
  const longestMs = isStart ? LONGEST_START_PAUSE_MS : LONGEST_PAUSE_MS
  const pause = pauseAfter(failures, firstPauseMs, longestMs)
  connection.failures += 1
  options.log('an MCP server is not connected', {
    server: options.name,
    cause: errorText(cause),
    pause_ms: pause,
  })
  clearTimeout(connection.retryTimer)
  connection.retryTimer = setTimeout(() => void connect(connection), pause)
  connection.retryTimer.unref()
  change(connection, 'waiting', explain(cause, options.settings))
}

function wantSignIn(connection: Connection): void {
  connection.closed = true
  change(connection, 'waiting', storedFailure('mcp_sign_in_needed'))
  connection.options.onSignIn?.()
}

function connect(connection: Connection): Promise<void> {
  connection.attempt ??= tryToConnect(connection).finally(() => {
    connection.attempt = null
  })
  return connection.attempt
}

async function tryToConnect(connection: Connection): Promise<void> {
  const { options, opener, firstPauseMs } = connection
  if (connection.closed || connection.current !== null) return
  clearTimeout(connection.retryTimer)
  if (connection.status !== 'connecting') change(connection, 'connecting', connection.error)
  const release =
    options.settings.command === undefined
      ? () => {}
      : await options.starts(connection.failures === 0)
  try {
    if (connection.closed) return
    const client = await opener.open(
      (created, giveUp) => beginAttempt(connection, created, giveUp),
      () => connection.closed,
    )
    const listed = await listTools(client)
    if (connection.closed) return void (await client.close())
    connection.isTooLarge = false
    connection.hasConnected = true
    const watch = new AbortController()
    connection.current = { client, watch, since: performance.now() }
    connection.listing = listed
    change(connection, 'connected', null)
    watchConnection({
      client,
      signal: watch.signal,
      firstPauseMs,
      onListChange: () => refresh(connection),
      onLost: (cause) => lose(connection, client, cause),
    })
  } catch (fault) {
    await connection.giveUp?.()
    if (options.onSignIn !== undefined && isSignInWanted(fault)) wantSignIn(connection)
    else planReconnect(connection, fault)
  } finally {
    release()
    connection.giveUp = null
  }
}

/** Listens to a client that is about to connect. */
function beginAttempt(
  connection: Connection,
  client: RemoteClient,
  giveUp: () => Promise<void>,
): void {
  const { log, name } = connection.options
  connection.output = ''
  connection.faults = 0
  connection.giveUp = giveUp
  client.setRequestHandler('elicitation/create', ({ params }) => answerInput(connection, params))
  client.onclose = () => lose(connection, client, new Error('the connection was closed'))
  client.onerror = (fault) => {
    connection.isTooLarge ||= isBufferFull(fault)
    connection.faults += 1
    if (connection.faults > MAX_LOGGED_FAULTS) return
    log('an MCP connection reported an error', {
      server: name,
      cause: brief(fault),
      ...(connection.faults === MAX_LOGGED_FAULTS ? { further: 'not logged' } : {}),
    })
  }
}

/**
 * Answers a question from a server of an earlier revision. The question does not say which call it belongs to, and nobody
 * may be asked on behalf of another user's call, so there must be exactly one call.
 */
async function answerInput(connection: Connection, params: unknown): Promise<InputAnswer> {
  const { inFlight, options } = connection
  const [call, other] = inFlight
  if (call === undefined || other !== undefined) {
    options.log('an MCP server asked for input that belongs to no call', {
      server: options.name,
      calls: inFlight.size,
    })
    return { action: 'cancel' }
  }
  connection.asking += 1
  try {
    return await call.onInput(params)
  } finally {
    connection.asking -= 1
  }
}

/** Reads the tools again. If they change meanwhile, reads them once more. */
async function refresh(connection: Connection): Promise<void> {
  await connection.refreshing
  const client = connection.current?.client
  if (client === undefined) return
  connection.refreshing = listTools(client)
    .then((listed) => {
      if (connection.current?.client !== client) return
      connection.listing = listed
      connection.options.onChange()
    })
    .catch((fault: unknown) => lose(connection, client, fault))
    .finally(() => {
      connection.refreshing = null
    })
  await connection.refreshing
}

async function ready(connection: Connection, signal: AbortSignal): Promise<RemoteClient | null> {
  if (connection.current === null && !connection.closed) {
    const waited = deadline(CALL_WAITS_MS, signal)
    await Promise.race([connect(connection), aborted(waited)])
  }
  return connection.current?.client ?? null
}

/** Calls a tool, and again only if the server reported that it did not run it. */
async function performCall(connection: Connection, call: RemoteCall): Promise<RemoteAnswer> {
  const { name } = connection.options
  for (let attempt = 1; ; attempt += 1) {
    const client = await ready(connection, call.signal)
    if (client === null) return notReached(connection)
    const { listing, inFlight } = connection
    const known = listing.tools.find((tool) => tool.name === call.tool.name) ?? call.tool
    const sdk = await loadSdk()
    inFlight.add(call)
    const outcome = await sendCall(client, sdk, { ...call, tool: known })
    inFlight.delete(call)
    const mayRepeat = attempt === 1
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
        if (!mayRepeat) return refused(outcome.fault)
        await refresh(connection)
        continue
      case 'answered':
        return refused(outcome.fault)
      case 'sign_in':
        if (connection.options.onSignIn === undefined) return notRun(name, outcome.fault)
        lose(connection, client, outcome.fault)
        wantSignIn(connection)
        return notReached(connection)
      case 'not_run':
        return notRun(name, outcome.fault)
      case 'not_sent':
        lose(connection, client, outcome.fault)
        return notReached(connection)
      case 'session_lost':
        // A server that does not know the session has not run the call.
        lose(connection, client, outcome.fault)
        if (!mayRepeat) return notRun(name, outcome.fault)
        continue
      case 'broken':
        lose(connection, client, outcome.fault)
        return lostDuringCall(connection)
    }
  }
}

async function close(connection: Connection): Promise<void> {
  connection.closed = true
  clearTimeout(connection.retryTimer)
  const { current, giveUp } = connection
  connection.current = null
  current?.watch.abort()
  await Promise.allSettled([current?.client.close(), giveUp?.()])
  await connection.attempt
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

const notReached = ({ options: { name }, error }: Connection): RemoteAnswer => ({
  ok: false,
  error: `The MCP server '${name}' is not available${error === null ? '' : ` (${error.message})`}; the call was not made. Continue without this tool; it may be available again later.`,
  reached: false,
})

const lostDuringCall = ({
  options: { name },
  isTooLarge,
  maxResponseBytes,
}: Connection): RemoteAnswer => ({
  ok: false,
  error: isTooLarge
    ? `The MCP server '${name}' sent more than ${megabytes(maxResponseBytes)} at once, so the connection to it was ended. The call has probably taken effect; its result is not known. Ask for less.`
    : `The connection to the MCP server '${name}' was lost during the call; the call may or may not have taken effect.`,
  reached: true,
})
