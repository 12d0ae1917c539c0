// One configured MCP server: a shared connection or, once it requires a sign-in, one for each user who signed in.
import { stripVTControlCharacters } from 'node:util'
import { errorText } from '../../errors.ts'
import type { WorkClaims } from '../../lib/work-claims.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { McpProblem, McpServer, McpServerSettings } from '../../protocol/models/mcp.ts'
import type { ToolDefinition } from '../definition.ts'
import { type ConnectedServer, connectServer } from './connected-server.ts'
import type { OAuthFetch } from './oauth/fetch.ts'
import type { McpGrant, McpGrantStore } from './oauth/grant.ts'
import { createTokenSource } from './oauth/token-source.ts'
import type { ToolEnvironment } from './tool.ts'

/** A configured server with its connections: one for everybody, or one for each signed-in user. */
export interface ServerEntry {
  readonly name: string
  readonly settings: McpServerSettings
  /** Connects for everybody. Resolves when the first attempt has ended. */
  open(environment: ToolEnvironment): Promise<void>
  /**
   * Connects for a user who has signed in. Resolves when the first attempt has ended, or at once if there is nothing to do.
   */
  openFor(userId: UserId): Promise<void>
  /** The connection through which this user, or everybody, reaches the server; undefined if there is none. */
  of(userId: UserId | null): ConnectedServer | undefined
  tools(userId: UserId | null): readonly ToolDefinition[]
  describe(userId: UserId): McpServer
  /** What is odd about the server, for administrators. */
  problems(userId: UserId): McpProblem[]
  /** The end of what the program printed, for administrators, without secrets; null if it printed nothing. */
  output(): string | null
  /** The user has signed in: connects with the new tokens. */
  connect(userId: UserId, grant: McpGrant): Promise<void>
  /** Forgets the user's sign-in. */
  disconnect(userId: UserId): Promise<void>
  close(): Promise<void>
}

/** The dependencies of a server entry. */
export interface ServerEntryOptions {
  name: string
  settings: McpServerSettings
  grants: McpGrantStore
  claims: WorkClaims
  fetch: OAuthFetch
  log(message: string, detail: Record<string, unknown>): void
  /** See `McpConnectionOptions`. */
  starts(isFirst: boolean): Promise<() => void>
  /** Removes secrets from a text. */
  redact(text: string): string
  /** See `McpConnectionOptions`. */
  offersApps?: boolean | undefined
  firstPauseMs?: number
}

/**
 * Whether people can sign in to the server. A configured Authorization header applies to everybody; programs have no
 * sign-in.
 */
export const maySignIn = ({ url, headers = {} }: McpServerSettings): boolean =>
  url !== undefined &&
  !Object.keys(headers).some((header) => header.toLowerCase() === 'authorization')

const NO_TOOLS: readonly ToolDefinition[] = []

/** The options, and the connections to the server. */
interface Entry extends ServerEntryOptions {
  /** The connections of people who have signed in. */
  users: Map<UserId, ConnectedServer>
  /** The connection of everybody else. */
  shared: ConnectedServer | undefined
  environment: ToolEnvironment | undefined
  wantsSignIn: boolean
  isClosed: boolean
}

const connectionOptions = ({
  name,
  settings,
  log,
  starts,
  offersApps,
  firstPauseMs,
}: ServerEntryOptions) => ({
  name,
  settings,
  log,
  starts,
  offersApps,
  ...(firstPauseMs === undefined ? {} : { firstPauseMs }),
})

/** Does not connect before `open` or `openFor` is called. */
export function createServerEntry(options: ServerEntryOptions): ServerEntry {
  const { name, settings, grants, claims } = options
  const entry: Entry = {
    ...options,
    users: new Map(),
    shared: undefined,
    environment: undefined,
    wantsSignIn: false,
    isClosed: false,
  }
  const { users } = entry
  const opening = new Map<UserId, Promise<void>>()

  return {
    name,
    settings,
    async open(given) {
      entry.environment = given
      entry.shared = connectServer({
        ...connectionOptions(options),
        ...given,
        onSignIn: maySignIn(settings)
          ? () => {
              entry.wantsSignIn = true
            }
          : undefined,
      })
      await entry.shared.connection.open()
    },
    openFor(userId) {
      if (!entry.wantsSignIn) return Promise.resolve()
      if (users.has(userId))
        return claims.isShared ? dropIfSignedOut(entry, userId) : Promise.resolve()
      const known = opening.get(userId)
      if (known !== undefined) return known
      const opened = openStored(entry, userId).finally(() => opening.delete(userId))
      opening.set(userId, opened)
      return opened
    },
    of: (userId) => connectionOf(entry, userId),
    tools: (userId) => connectionOf(entry, userId)?.tools() ?? NO_TOOLS,
    describe(userId) {
      const server = connectionOf(entry, userId)
      const { connection } = server ?? entry.shared ?? {}
      const auth = !entry.wantsSignIn ? 'none' : server === undefined ? 'needed' : 'connected'
      return {
        name,
        transport: settings.command !== undefined ? 'stdio' : 'http',
        state: connection?.status ?? 'connecting',
        era: connection?.era ?? null,
        auth,
        error: connection?.error?.message ?? null,
        reason: connection?.error?.reason ?? null,
        params: connection?.error?.params ?? null,
        tools: (server?.tools() ?? NO_TOOLS).map((tool) => ({
          name: tool.name,
          description: tool.description,
          read_only: tool.riskLevel === 'low',
        })),
      }
    },
    problems: (userId) => [...((connectionOf(entry, userId) ?? entry.shared)?.problems() ?? [])],
    output: () => shownOutput(entry.shared?.connection.output ?? '', settings, options.redact),
    async connect(userId, grant) {
      await grants.save(userId, name, grant)
      await openWith(entry, userId, grant)
    },
    async disconnect(userId) {
      await grants.remove(userId, name)
      await drop(entry, userId)
    },
    async close() {
      entry.isClosed = true
      await Promise.all(
        [...users.values(), entry.shared].map((server) => server?.connection.close()),
      )
    },
  }
}

const drop = async ({ users }: Entry, userId: UserId): Promise<void> => {
  const old = users.get(userId)
  users.delete(userId)
  await old?.connection.close()
}

const openWith = async (entry: Entry, userId: UserId, grant: McpGrant): Promise<void> => {
  const { name, grants, claims, fetch, log, users } = entry
  if (entry.environment === undefined) return
  await drop(entry, userId)
  // The entry was removed in the meantime.
  if (entry.isClosed) return
  const source = createTokenSource({
    userId,
    server: name,
    grant,
    grants,
    claims,
    fetch,
    log,
    onOver() {
      if (users.get(userId) === server) void drop(entry, userId)
    },
  })
  const server = connectServer({
    ...connectionOptions(entry),
    ...entry.environment,
    authProvider: source.provider,
    onSignIn() {
      source.end().catch((error: unknown) =>
        log('a sign-in that is over was not removed', {
          server: name,
          cause: errorText(error),
        }),
      )
    },
  })
  users.set(userId, server)
  await server.connection.open()
}

const openStored = async (entry: Entry, userId: UserId): Promise<void> => {
  const { grants, name, settings } = entry
  const grant = await grants.find(userId, name)
  // Tokens belong to the address for which they were issued, whatever the server's name.
  if (grant === undefined || grant.url !== settings.url) return
  await openWith(entry, userId, grant)
}

/** Disconnects the user if they signed out at another instance. */
const dropIfSignedOut = async (entry: Entry, userId: UserId): Promise<void> => {
  const { users, grants, name } = entry
  const server = users.get(userId)
  const stored = await grants.find(userId, name)
  if (stored === undefined && users.get(userId) === server) await drop(entry, userId)
}

const connectionOf = (entry: Entry, userId: UserId | null): ConnectedServer | undefined => {
  const { users } = entry
  if (!entry.wantsSignIn) return entry.shared
  return userId === null ? undefined : users.get(userId)
}

/** Shorter values are not secrets, and would be replaced everywhere. */
const MIN_SECRET = 6

/**
 * What a program printed, for administrators: without colours, and without secrets of this server or of the program's own
 * environment. Null if it printed nothing.
 */
export function shownOutput(
  output: string,
  settings: McpServerSettings,
  redact: (text: string) => string,
): string | null {
  let text = stripVTControlCharacters(output).replace(/[^\P{Cc}\n\t]/gu, '')
  for (const value of Object.values(settings.env ?? {}))
    if (value.length >= MIN_SECRET) text = text.replaceAll(value, '[redacted]')
  const clean = redact(text).trim()
  return clean === '' ? null : clean
}
