// Opens the client for one MCP server, in the revision that the server speaks: detected once, then remembered.
import type { PriorDiscovery } from '@modelcontextprotocol/client'
import { deadline, onAbort } from '../../../lib/abort.ts'
import type { McpEra, McpServerSettings } from '../../../protocol/models/mcp.ts'
import { APP_EXTENSION } from '../app-metadata.ts'
import { isForOldTransport, isSignInWanted } from '../faults.ts'
import { loadSdk, type RemoteClient } from '../sdk.ts'
import {
  CONNECT_TIMEOUT_MS,
  DISCOVERY_TIMEOUT_MS,
  FIRST_DISCOVERY_TIMEOUT_MS,
  FIRST_START_TIMEOUT_MS,
  LEGACY_REMEMBERED_MS,
} from '../timing.ts'
import { type TransportOptions, transportFor } from '../transport.ts'
import { MAX_PAGES } from './listing.ts'

/** Opens clients to one server, one at a time. */
export interface ClientOpener {
  /** The revision that the server last used; null before the first connection. */
  readonly era: McpEra | null
  /**
   * Returns a connected client. `prepare` receives the client before it connects, so that it can add listeners, and a
   * function that aborts the attempt, even while the revision is being detected. Nothing is started once `isClosed`.
   * @throws the SDK's error if the server cannot be reached; then the revision is detected again.
   */
  open(
    prepare: (client: RemoteClient, giveUp: () => Promise<void>) => void,
    isClosed: () => boolean,
  ): Promise<RemoteClient>
}

/** How a server is asked for its revision. */
type Way = { prior: PriorDiscovery | undefined; isOldTransport: boolean }

/** How to send requests, and what servers are told of this client. */
type OpenerOptions = Omit<TransportOptions, 'isOldTransport'> & {
  /** Whether apps of servers can be shown. */
  offersApps: boolean
}

/** What connections to a server share. */
interface OpenerState {
  readonly settings: McpServerSettings
  readonly options: OpenerOptions
  era: McpEra | null
  remembered: { prior: PriorDiscovery; until: number; isOldTransport: boolean } | null
  hasConnected: boolean
  /** Whether the program ended before it answered anything, so that asking for its revision only costs a second start. */
  skipsProbe: boolean
  readonly isProgram: boolean
}

/** Create one per connection: it remembers how to reach the server, and which revision it speaks. */
export function createClientOpener(
  settings: McpServerSettings,
  options: OpenerOptions,
): ClientOpener {
  const isProgram = settings.command !== undefined
  const opener: OpenerState = {
    settings,
    options,
    era: null,
    remembered: null,
    hasConnected: false,
    skipsProbe: false,
    isProgram,
  }
  return {
    get era() {
      return opener.era
    },
    open: (prepare, isClosed) => open(opener, prepare, isClosed),
  }
}

function recall(opener: OpenerState): Way {
  if (opener.settings.type === 'sse' && !opener.isProgram) return OLD_TRANSPORT
  if (opener.remembered !== null && Date.now() < opener.remembered.until) return opener.remembered
  return { prior: opener.skipsProbe ? LEGACY.prior : undefined, isOldTransport: false }
}

async function openIn(
  opener: OpenerState,
  { prior, isOldTransport }: Way,
  prepare: Parameters<ClientOpener['open']>[0],
  isClosed: () => boolean,
): Promise<RemoteClient> {
  const sdk = await loadSdk()
  const isFirstStart = opener.isProgram && !opener.hasConnected
  const client = new sdk.Client(
    { name: 'nanoclaw', version: '1' },
    {
      capabilities: {
        elicitation: { form: {}, url: {} },
        ...(opener.options.offersApps ? { extensions: APP_EXTENSION } : {}),
      },
      versionNegotiation: {
        mode: 'auto',
        probe: { timeoutMs: isFirstStart ? FIRST_DISCOVERY_TIMEOUT_MS : DISCOVERY_TIMEOUT_MS },
      },
      // Rounds of input are stored with the call, so that they survive a restart.
      inputRequired: { autoFulfill: false },
      listMaxPages: MAX_PAGES,
    },
  )
  const transport = transportFor(opener.settings, sdk, { ...opener.options, isOldTransport })
  const givenUp = new AbortController()
  const giveUp = async (): Promise<void> => {
    givenUp.abort(new Error('the connection is no longer wanted'))
    // The client takes over the transport only once it knows the revision.
    await Promise.allSettled([client.close(), transport.close()])
  }
  prepare(client, giveUp)
  // The connection was closed while the SDK was loading: what has not begun cannot be aborted.
  if (isClosed()) throw new Error('the connection is no longer wanted')
  const timeout = isFirstStart ? FIRST_START_TIMEOUT_MS : CONNECT_TIMEOUT_MS
  const connecting = client.connect(transport, {
    timeout,
    ...(prior === undefined ? {} : { prior }),
  })
  // The start of the old transport ends neither at its close nor after any time.
  const signal = isOldTransport ? deadline(timeout, givenUp.signal) : givenUp.signal
  await unlessAborted(connecting, signal)
  opener.hasConnected = true
  opener.era = client.getProtocolEra() ?? null
  const discover = client.getDiscoverResult()
  if (prior === undefined && discover !== undefined)
    opener.remembered = {
      prior: { kind: 'modern', discover },
      until: Number.POSITIVE_INFINITY,
      isOldTransport,
    }
  else if (prior === undefined || prior.kind === 'legacy')
    opener.remembered = {
      prior: { kind: 'legacy' },
      until: opener.remembered?.until ?? Date.now() + LEGACY_REMEMBERED_MS,
      isOldTransport,
    }
  return client
}

/** Another way to reach a server that refused the first one; undefined if there is none. */
function otherWay(opener: OpenerState, fault: unknown, way: Way): Way | undefined {
  if (way.isOldTransport || way.prior?.kind === 'legacy') return undefined
  // Some programs end at the first request that they do not know.
  if (opener.isProgram)
    return isEndOfProgram(fault) ? { ...LEGACY, isOldTransport: false } : undefined
  return isForOldTransport(fault) ? OLD_TRANSPORT : undefined
}

async function open(
  opener: OpenerState,
  prepare: (client: RemoteClient, giveUp: () => Promise<void>) => void,
  isClosed: () => boolean,
): Promise<RemoteClient> {
  const way = recall(opener)
  try {
    return await openIn(opener, way, prepare, isClosed)
  } catch (fault) {
    opener.remembered = null
    if (!isEndOfProgram(fault)) opener.skipsProbe = false
    const other = otherWay(opener, fault, way)
    // A program that was ended by closing the connection is not started again.
    if (other === undefined || isClosed()) throw fault
    try {
      return await openIn(opener, other, prepare, isClosed)
    } catch (second) {
      opener.remembered = null
      opener.skipsProbe = opener.isProgram && isEndOfProgram(second)
      // The first fault says more about a server that does not speak the old transport either.
      throw other.isOldTransport && !isSignInWanted(second) ? fault : second
    }
  }
}

/** Resolves like the promise, which must not be needed any more once the signal is aborted. @throws the signal's reason then. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, () => reject(signal.reason))
    promise.then(resolve, reject).finally(release)
  })
}

const LEGACY = { prior: { kind: 'legacy' } } as const
/** Servers that speak it are all of an earlier revision. */
const OLD_TRANSPORT = { ...LEGACY, isOldTransport: true } as const

const isEndOfProgram = (fault: unknown): boolean =>
  fault instanceof Error && /connection closed/i.test(fault.message)
