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

/** Does not connect before `open` or `openFor` is called. */
export function createServerEntry(options: ServerEntryOptions): ServerEntry {
  const { name, settings, grants, claims, log } = options
  const common = {
    name,
    settings,
    log,
    starts: options.starts,
    ...(options.firstPauseMs === undefined ? {} : { firstPauseMs: options.firstPauseMs }),
  }
  const users = new Map<UserId, ConnectedServer>()
  const opening = new Map<UserId, Promise<void>>()
  let shared: ConnectedServer | undefined
  let environment: ToolEnvironment | undefined
  let wantsSignIn = false
  let isClosed = false

  const drop = async (userId: UserId): Promise<void> => {
    const old = users.get(userId)
    users.delete(userId)
    await old?.connection.close()
  }

  const openWith = async (userId: UserId, grant: McpGrant): Promise<void> => {
    if (environment === undefined) return
    await drop(userId)
    // The entry was removed in the meantime.
    if (isClosed) return
    const source = createTokenSource({
      userId,
      server: name,
      grant,
      grants,
      claims,
      fetch: options.fetch,
      log,
      onOver() {
        if (users.get(userId) === server) void drop(userId)
      },
    })
    const server = connectServer({
      ...common,
      ...environment,
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

  const openStored = async (userId: UserId): Promise<void> => {
    const grant = await grants.find(userId, name)
    // Tokens belong to the address for which they were issued, whatever the server's name.
    if (grant === undefined || grant.url !== settings.url) return
    await openWith(userId, grant)
  }

  /** Disconnects the user if they signed out at another instance. */
  const dropIfSignedOut = async (userId: UserId): Promise<void> => {
    const server = users.get(userId)
    const stored = await grants.find(userId, name)
    if (stored === undefined && users.get(userId) === server) await drop(userId)
  }

  const connectionOf = (userId: UserId | null): ConnectedServer | undefined => {
    if (!wantsSignIn) return shared
    return userId === null ? undefined : users.get(userId)
  }

  return {
    name,
    settings,
    async open(given) {
      environment = given
      shared = connectServer({
        ...common,
        ...given,
        onSignIn: maySignIn(settings)
          ? () => {
              wantsSignIn = true
            }
          : undefined,
      })
      await shared.connection.open()
    },
    openFor(userId) {
      if (!wantsSignIn) return Promise.resolve()
      if (users.has(userId)) return claims.isShared ? dropIfSignedOut(userId) : Promise.resolve()
      const known = opening.get(userId)
      if (known !== undefined) return known
      const opened = openStored(userId).finally(() => opening.delete(userId))
      opening.set(userId, opened)
      return opened
    },
    of: connectionOf,
    tools: (userId) => connectionOf(userId)?.tools() ?? NO_TOOLS,
    describe(userId) {
      const server = connectionOf(userId)
      const { connection } = server ?? shared ?? {}
      const auth = !wantsSignIn ? 'none' : server === undefined ? 'needed' : 'connected'
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
    problems: (userId) => [...((connectionOf(userId) ?? shared)?.problems() ?? [])],
    output: () => shownOutput(shared?.connection.output ?? '', settings, options.redact),
    async connect(userId, grant) {
      await grants.save(userId, name, grant)
      await openWith(userId, grant)
    },
    async disconnect(userId) {
      await grants.remove(userId, name)
      await drop(userId)
    },
    async close() {
      isClosed = true
      await Promise.all([...users.values(), shared].map((server) => server?.connection.close()))
    },
  }
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
