// All enabled MCP servers: their connections, their tools, and their state for the page.
import { LRUCache } from 'lru-cache'
import { AppError, appError, errorText } from '../../errors.ts'
import { atMost } from '../../lib/lru-limit.ts'
import { oncePer } from '../../lib/once-per.ts'
import { SOLE_WORKER, type WorkClaims } from '../../lib/work-claims.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import type { AdminMcpServer } from '../../protocol/admin/mcp-server.ts'
import type { UserId } from '../../protocol/ids.ts'
import type {
  McpPrompt,
  McpResource,
  McpResourceTemplate,
  McpServer,
  McpServerSettings,
} from '../../protocol/models/mcp.ts'
import { estimateTokens } from '../../protocol/models/token-estimate.ts'
import type { ToolDefinition } from '../definition.ts'
import type { PrepareImage } from '../result-image.ts'
import { toSchema } from '../tool-schema.ts'
import { createOAuthFetch } from './oauth/fetch.ts'
import type { McpGrantStore } from './oauth/grant.ts'
import { createSignIns, type Redirected } from './oauth/sign-in.ts'
import { fillPrompt, listPrompts } from './prompts.ts'
import {
  listResources,
  listResourceTemplates,
  type ReadResource,
  readResource,
} from './resources.ts'
import { loadCompiler, type RemoteClient } from './sdk.ts'
import { createServerEntry, type ServerEntry } from './server-entry.ts'
import { createStarts } from './starts.ts'
import type { ToolEnvironment } from './tool.ts'
import { type TriedMcpServer, tryServer } from './try-server.ts'
import { isLimited, type McpUser, maySeeServer } from './visibility.ts'

/** A server as administrators see it: with what is odd, and with the tools that are switched off. */
export type ListedMcpServer = Pick<
  AdminMcpServer,
  keyof McpServer | 'problems' | 'output' | 'tool_tokens'
> & { state: McpServer['state'] }

/** The MCP servers of this installation. */
export interface McpServers {
  /** The state of each server for this user, in the order of the configuration. */
  list(userId: UserId): McpServer[]
  /** Like `list`, for every server, including those that this user, an administrator, may not use; with what is odd. */
  listAll(userId: UserId): ListedMcpServer[]
  /** The tools of all servers that this user reaches; the same array while they do not change. */
  tools(userId: UserId | null): readonly ToolDefinition[]
  /** The names of the user's tools of these servers, for conversations that switched the servers off. */
  toolNamesOf(userId: UserId, servers: readonly string[]): ReadonlySet<string>
  /** Connects to the servers that this user has signed in to. Resolves when that was tried, or after some seconds. */
  prepare(userId: UserId): Promise<void>
  /** Begins a sign-in to a server. @returns the address to open. @throws AppError if the user cannot sign in to it. */
  signIn(userId: UserId, server: string, redirectUri: string): Promise<string>
  /** Finishes a sign-in with what the authorization server added to the address. @throws AppError if it failed. */
  finishSignIn(userId: UserId, redirected: Redirected): Promise<void>
  /** Removes the user's sign-in to a server. @throws AppError if there is no such server. */
  signOut(userId: UserId, server: string): Promise<void>
  /** The prompts of all servers that this user reaches now. Servers that do not respond are left out. */
  prompts(userId: UserId): Promise<McpPrompt[]>
  /** A prompt filled with its arguments, as text from outside. @throws AppError if the server does not return it. */
  prompt(
    userId: UserId,
    server: string,
    name: string,
    values: Record<string, string>,
  ): Promise<string>
  /** The resources of all servers that this user reaches now. Servers that do not respond are left out. */
  resources(userId: UserId): Promise<McpResource[]>
  /** Like `resources`, for resources whose addresses have parts to fill in. */
  resourceTemplates(userId: UserId): Promise<McpResourceTemplate[]>
  /** The content of a resource, as text from outside. @throws AppError if the server does not return it. */
  readResource(userId: UserId, server: string, uri: string): Promise<ReadResource>
  /** Replaces the names of the tools that are switched off. Runs that have begun keep their tools. */
  switchOff(tools: ReadonlySet<string>): void
  /** Replaces the configured servers. Servers whose settings have not changed keep their connections. */
  replace(servers: Readonly<Record<string, McpServerSettings>>): void
  /** Connects to a server once, lists its tools and disconnects, independently of the configured servers. */
  test(name: string, settings: McpServerSettings, signal: AbortSignal): Promise<TriedMcpServer>
  /** Resolves when each server was tried once, or after ten seconds. Tools of slower servers are added later. */
  readonly ready: Promise<void>
  /** Closes every connection and child process. */
  close(): Promise<void>
}

const MAX_USERS = 10_000
const READY_MS = 10_000
const PREPARE_MS = 5_000

/** The dependencies of the MCP servers. */
export interface McpServersOptions {
  servers: Readonly<Record<string, McpServerSettings>>
  /** The names of the tools that are switched off. Default: none. */
  disabledTools?: ReadonlySet<string>
  grants: McpGrantStore
  /** Lets one instance at a time do certain work; undefined in a single process. */
  claims?: WorkClaims | undefined
  /** Identifies a user; called only if a server is limited to some users. */
  identify(userId: UserId): Promise<McpUser | undefined>
  /** Whether a user may use a server at all. Default: everybody may. */
  permits?(userId: UserId | null, server: string): boolean
  /** The public HTTPS address of this installation's OAuth client metadata; null if there is none. */
  clientMetadataUrl: string | null
  /** Makes the requests of sign-ins. */
  web: GuardedFetch
  /** Prepares the pictures of results. */
  prepareImage: PrepareImage
  log(message: string, detail: Record<string, unknown>): void
  /** Removes secrets from what programs print. */
  redact(text: string): string
  /** The pause before a broken server is tried again, in milliseconds; for tests. */
  firstPauseMs?: number
}

/** Connects to every server in the background. Returns at once, so that an unresponsive server does not delay the start. */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { servers, claims = SOLE_WORKER, web, disabledTools = new Set(), ...rest } = options
  const common = { ...rest, fetch: createOAuthFetch(web), starts: createStarts() }
  const loadEnvironment = async (): Promise<ToolEnvironment> => ({
    compile: await loadCompiler(),
    prepareImage: options.prepareImage,
  })
  const createEntry = ([name, settings]: [string, McpServerSettings]): ServerEntry =>
    createServerEntry({ ...common, claims, name, settings })
  let entries: readonly ServerEntry[] = Object.entries(servers).map(createEntry)
  const closing = new Set<Promise<void>>()
  const signIns = createSignIns(common)
  const joined = createJoiner()
  const asksWho = (): boolean => entries.some(({ settings }) => isLimited(settings))
  /** Users as they were when `prepare` was last called for them. */
  const users = new LRUCache<UserId, McpUser>(atMost(MAX_USERS))
  let isClosed = false
  let isOn = enabledTools(disabledTools)
  const toolsOf = (entry: ServerEntry, userId: UserId | null): readonly ToolDefinition[] =>
    isOn(entry.tools(userId))
  const started = open(entries)

  /** Connects to servers, unless they were removed in the meantime. */
  async function open(opened: readonly ServerEntry[]): Promise<void> {
    if (opened.length === 0) return
    const environment = await loadEnvironment()
    if (isClosed) return
    const present = opened.filter((entry) => entries.includes(entry))
    await Promise.race([
      Promise.all(present.map((entry) => entry.open(environment))),
      after(READY_MS),
    ])
  }

  const drop = (entry: ServerEntry): void => {
    const closed: Promise<void> = entry
      .close()
      .catch((error: unknown) =>
        options.log('an MCP server was not closed', {
          server: entry.name,
          cause: errorText(error),
        }),
      )
      .finally(() => closing.delete(closed))
    closing.add(closed)
  }

  const visible = (userId: UserId | null): ServerEntry[] => {
    const user = userId === null ? undefined : users.get(userId)
    return entries.filter(
      ({ name, settings }) =>
        (!asksWho() || maySeeServer(settings, user)) && (options.permits?.(userId, name) ?? true),
    )
  }

  const get = async (userId: UserId, name: string): Promise<ServerEntry> => {
    await identify(userId)
    const entry = visible(userId).find((one) => one.name === name)
    if (entry === undefined) throw appError('mcp_server_not_found')
    return entry
  }

  const identify = async (userId: UserId): Promise<void> => {
    if (!asksWho()) return
    const user = await options.identify(userId)
    if (user === undefined) users.delete(userId)
    else users.set(userId, user)
  }

  /** What the connected servers list. A server that fails contributes nothing. */
  const gather = async <Item>(
    userId: UserId,
    what: string,
    list: (client: RemoteClient, server: string) => Promise<Item[]>,
  ): Promise<Item[]> => {
    const lists = visible(userId).map(async (entry) => {
      const connection = entry.of(userId)?.connection
      if (connection?.status !== 'connected') return []
      return await connection
        .use((client) => list(client, entry.name))
        .catch((fault: unknown) => {
          options.log(`the ${what} of an MCP server were not listed`, {
            server: entry.name,
            cause: errorText(fault),
          })
          return []
        })
    })
    return (await Promise.all(lists)).flat()
  }

  /** Sends a request to one server. @throws AppError `reason` if it fails. */
  const ask = async <Answer>(
    userId: UserId,
    server: string,
    reason: 'mcp_prompt_failed' | 'mcp_resource_failed',
    work: (client: RemoteClient) => Promise<Answer>,
  ): Promise<Answer> => {
    const connection = (await get(userId, server)).of(userId)?.connection
    if (connection === undefined) throw appError('mcp_not_connected', { server })
    try {
      return await connection.use(work)
    } catch (fault) {
      if (fault instanceof AppError) throw fault
      options.log('an MCP server refused a request', { server, reason, cause: errorText(fault) })
      throw appError(reason, { server })
    }
  }

  return {
    ready: started,
    tools: (userId) => joined(visible(userId).map((entry) => toolsOf(entry, userId))),
    list: (userId) =>
      visible(userId).map((entry) => {
        const on = new Set(toolsOf(entry, userId).map(({ name }) => name))
        const server = entry.describe(userId)
        return { ...server, tools: server.tools.filter(({ name }) => on.has(name)) }
      }),
    listAll: (userId) =>
      entries.map((entry) => {
        const on = toolsOf(entry, userId)
        const costs = new Map(entry.tools(userId).map((tool) => [tool.name, costOf(tool)] as const))
        const server = entry.describe(userId)
        return {
          ...server,
          tools: server.tools.map((tool) => ({
            ...tool,
            enabled: on.some(({ name }) => name === tool.name),
            tokens: costs.get(tool.name) ?? 0,
          })),
          problems: entry.problems(userId),
          output: entry.output(),
          tool_tokens: tokensOf(on),
        }
      }),
    toolNamesOf(userId, wanted) {
      const names = visible(userId)
        .filter(({ name }) => wanted.includes(name))
        .flatMap((entry) => toolsOf(entry, userId))
        .map(({ name }) => name)
      return new Set(names)
    },
    async prepare(userId) {
      await identify(userId)
      await Promise.race([
        Promise.all(visible(userId).map((entry) => entry.openFor(userId))),
        after(PREPARE_MS),
      ])
    },
    async signIn(userId, name, redirectUri) {
      const { settings } = await get(userId, name)
      return await signIns.begin(userId, name, settings, redirectUri)
    },
    async finishSignIn(userId, redirected) {
      const { server, grant } = await signIns.finish(userId, redirected)
      const entry = await get(userId, server)
      await entry.connect(userId, grant)
    },
    async signOut(userId, name) {
      const entry = await get(userId, name)
      await entry.disconnect(userId)
    },
    prompts: (userId) => gather(userId, 'prompts', listPrompts),
    prompt: (userId, server, name, values) =>
      ask(userId, server, 'mcp_prompt_failed', (client) => fillPrompt(client, name, values)),
    resources: (userId) => gather(userId, 'resources', listResources),
    resourceTemplates: (userId) => gather(userId, 'resource templates', listResourceTemplates),
    readResource: (userId, server, uri) =>
      ask(userId, server, 'mcp_resource_failed', (client) => readResource(client, server, uri)),
    switchOff(tools) {
      isOn = enabledTools(tools)
    },
    replace(wanted) {
      if (isClosed) return
      const before = entries
      entries = Object.entries(wanted).map(
        ([name, settings]) =>
          before.find((entry) => entry.name === name && isSame(entry.settings, settings)) ??
          createEntry([name, settings]),
      )
      for (const entry of before) if (!entries.includes(entry)) drop(entry)
      open(entries.filter((entry) => !before.includes(entry))).catch((error: unknown) =>
        options.log('MCP servers were not opened', { cause: errorText(error) }),
      )
    },
    test: async (name, settings, signal) =>
      await tryServer(
        { name, settings, ...(await loadEnvironment()), log: options.log, redact: options.redact },
        signal,
      ),
    async close() {
      isClosed = true
      await Promise.all([...entries.map((entry) => entry.close()), ...closing])
    },
  }
}

/** Returns a function that leaves out tools; it returns the same array for the same list. */
function enabledTools(off: ReadonlySet<string>) {
  if (off.size === 0) return (tools: readonly ToolDefinition[]) => tools
  return oncePer((tools: readonly ToolDefinition[]): readonly ToolDefinition[] =>
    tools.filter(({ name }) => !off.has(name)),
  )
}

/** Estimated tokens of a tool in a request. */
const costOf = oncePer((tool: ToolDefinition): number =>
  estimateTokens(JSON.stringify(toSchema(tool))),
)

/** Estimated tokens of the tools in a request. */
const tokensOf = (tools: readonly ToolDefinition[]): number =>
  tools.reduce((sum, tool) => sum + costOf(tool), 0)

/** Settings are JSON and always parsed in the same way. */
const isSame = (one: McpServerSettings, other: McpServerSettings): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Joins lists, and returns the same array for the same lists, for the most recent users. */
function createJoiner() {
  const MAX_KNOWN = 50
  let known: { lists: readonly (readonly ToolDefinition[])[]; tools: readonly ToolDefinition[] }[] =
    []
  return (lists: readonly (readonly ToolDefinition[])[]): readonly ToolDefinition[] => {
    const found = known.find(
      (one) =>
        one.lists.length === lists.length && one.lists.every((list, at) => list === lists[at]),
    )
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
