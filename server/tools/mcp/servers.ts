// All configured MCP servers: their connections, their tools, and their state for the page.
import { appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { McpServer, McpServerSettings } from '../../protocol/mcp.ts'
import type { ToolDefinition } from '../definition.ts'
import type { McpGrantStore } from './oauth/grant.ts'
import { createSignIns, type Redirected } from './oauth/sign-in.ts'
import { createServerEntry, type ServerEntry } from './server-entry.ts'
import type { SchemaCompiler } from './tool.ts'

export interface McpServers {
  /** The state of each server for this user, in the order of the configuration. */
  list(userId: UserId): McpServer[]
  /** The tools of all servers that this user reaches; the same array as long as they are the same. */
  tools(userId: UserId): readonly ToolDefinition[]
  /** The names of the user's tools of these servers, for conversations that disabled them. */
  toolNamesOf(userId: UserId, servers: readonly string[]): ReadonlySet<string>
  /** Connects to the servers that this user has signed in to. Resolves when that is tried, or after some seconds. */
  prepare(userId: UserId): Promise<void>
  /** Begins to sign in to a server. @returns the address to open. @throws AppError when that is not possible. */
  signIn(userId: UserId, server: string, redirectUri: string): Promise<string>
  /** Ends the sign-in with what the authorization server added to the address. @throws AppError when it failed. */
  finishSignIn(userId: UserId, redirected: Redirected): Promise<void>
  /** Forgets the user's sign-in to a server. @throws AppError when there is no such server. */
  signOut(userId: UserId, server: string): Promise<void>
  /** Resolves when each server was tried once, or after ten seconds; tools of slower servers are added later. */
  readonly ready: Promise<void>
  /** Closes every connection and child process. */
  close(): Promise<void>
}

const READY_MS = 10_000
const PREPARE_MS = 5_000

export interface McpServersOptions {
  servers: Readonly<Record<string, McpServerSettings>>
  grants: McpGrantStore
  /** The public HTTPS address of this installation's OAuth client metadata; null without one. */
  clientMetadataUrl: string | null
  log(message: string, detail: Record<string, unknown>): void
  /** For tests: the pause before a broken server is tried again, in milliseconds. */
  firstPauseMs?: number
}

/**
 * Connects to every server in the background. Returns at once, so that an unresponsive server does not delay the start.
 */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { servers, ...common } = options
  const entries = Object.entries(servers).map(([name, settings]) =>
    createServerEntry({ ...common, name, settings }),
  )
  const signIns = createSignIns(common)
  const joined = createJoiner()
  let isClosed = false
  const started = entries.length === 0 ? Promise.resolve() : start()

  async function start(): Promise<void> {
    const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv')
    // The SDK wants a schema typed after its value; servers send any JSON Schema.
    const compile: SchemaCompiler = (schema) =>
      new AjvJsonSchemaValidator().getValidator<unknown>(schema as never)
    if (isClosed) return
    await Promise.race([Promise.all(entries.map((entry) => entry.open(compile))), after(READY_MS)])
  }

  const get = (name: string): ServerEntry => {
    const entry = entries.find((one) => one.name === name)
    if (entry === undefined) throw appError('mcp_server_not_found')
    return entry
  }

  return {
    ready: started,
    tools: (userId) => joined(entries.map((entry) => entry.tools(userId))),
    list: (userId) => entries.map((entry) => entry.describe(userId)),
    toolNamesOf(userId, wanted) {
      const names = entries
        .filter(({ name }) => wanted.includes(name))
        .flatMap((entry) => entry.tools(userId))
        .map(({ name }) => name)
      return new Set(names)
    },
    async prepare(userId) {
      await Promise.race([
        Promise.all(entries.map((entry) => entry.openFor(userId))),
        after(PREPARE_MS),
      ])
    },
    signIn: (userId, name, redirectUri) =>
      signIns.begin(userId, name, get(name).settings, redirectUri),
    async finishSignIn(userId, redirected) {
      const { server, grant } = await signIns.finish(userId, redirected)
      await get(server).connect(userId, grant)
    },
    signOut: (userId, name) => get(name).disconnect(userId),
    async close() {
      isClosed = true
      await Promise.all(entries.map((entry) => entry.close()))
    },
  }
}

/** Joins lists, and returns the same array for the same lists: for the last users who asked. */
function createJoiner() {
  const MAX_KNOWN = 50
  let known: { lists: readonly (readonly ToolDefinition[])[]; tools: readonly ToolDefinition[] }[] =
    []
  return (lists: readonly (readonly ToolDefinition[])[]): readonly ToolDefinition[] => {
    const found = known.find((one) => one.lists.every((list, at) => list === lists[at]))
    if (found !== undefined) return found.tools
    const tools = lists.flat()
    known = [{ lists, tools }, ...known].slice(0, MAX_KNOWN)
    return tools
  }
}

const after = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
