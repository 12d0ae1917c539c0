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
import { visibleText } from '../../protocol/runs/visible-text.ts'
import { type ToolDefinition, toSchema } from '../definition.ts'
import type { PrepareImage } from '../result-image.ts'
import { createOAuthFetch } from './oauth/fetch.ts'
import type { McpGrantStore } from './oauth/grant.ts'
import { createSignIns, type Redirected } from './oauth/sign-in.ts'
import { loadCompiler, type RemoteClient } from './sdk.ts'
import { createServerEntry, type ServerEntry } from './server-entry.ts'
import { type AppResource, readAppResource } from './servers/app-resources.ts'
import {
  listResources,
  listResourceTemplates,
  type ReadResource,
  readResource,
} from './servers/resources.ts'
import { CONNECT_TIMEOUT_MS, START_SLOT_MS, STARTS_AT_ONCE } from './timing.ts'
import type { ToolEnvironment } from './tool.ts'
import { type TriedMcpServer, tryServer } from './try-server.ts'

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
  /** @throws AppError `mcp_server_not_found` unless there is a server with this name for the user. */
  assertKnown(userId: UserId, server: string): Promise<void>
  /**
   * A tool of a server for its apps, whether models see it or not; null if only models may call it, undefined if the user
   * reaches no such tool, or it is switched off.
   */
  appTool(userId: UserId, server: string, tool: string): Promise<ToolDefinition | null | undefined>
  /** The document of an app, as text from outside. @throws AppError if the server does not name or return it. */
  readApp(userId: UserId, server: string, uri: string): Promise<AppResource>
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
  /** Whether apps of servers can be shown: the servers are told so. Default: false. */
  offersApps?: boolean | undefined
  /** The pause before a broken server is tried again, in milliseconds; for tests. */
  firstPauseMs?: number
}

/** The servers as they are now. */
interface ServersState {
  readonly options: McpServersOptions
  readonly common: Omit<Parameters<typeof createServerEntry>[0], 'name' | 'settings'>
  entries: readonly ServerEntry[]
  readonly closing: Set<Promise<void>>
  /** Users as they were when `prepare` was last called for them. */
  readonly users: LRUCache<UserId, McpUser, unknown>
  isClosed: boolean
  isOn: (tools: readonly ToolDefinition[]) => readonly ToolDefinition[]
}

/** Connects to every server in the background. Returns at once, so that an unresponsive server does not delay the start. */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { servers, claims = SOLE_WORKER, web, disabledTools = new Set(), ...rest } = options
  const common = { ...rest, claims, fetch: createOAuthFetch(web), starts: createStarts() }
  const signIns = createSignIns(common)
  const joined = createJoiner()
  const isOn = enabledTools(disabledTools)
  const state: ServersState = {
    options,
    common,
    entries: [],
    closing: new Set<Promise<void>>(),
    users: new LRUCache<UserId, McpUser>(atMost(MAX_USERS)),
    isClosed: false,
    isOn,
  }
  state.entries = Object.entries(servers).map((server) => createEntry(state, server))
  const started = open(state, state.entries)
  return {
    ready: started,
    tools: (userId) => joined(visible(state, userId).map((entry) => toolsOf(state, entry, userId))),
    list: (userId) =>
      visible(state, userId).map((entry) => {
        const on = new Set(toolsOf(state, entry, userId).map(({ name }) => name))
        const server = entry.describe(userId)
        return { ...server, tools: server.tools.filter(({ name }) => on.has(name)) }
      }),
    listAll: (userId) => listAll(state, userId),
    toolNamesOf(userId, wanted) {
      const names = visible(state, userId)
        .filter(({ name }) => wanted.includes(name))
        .flatMap((entry) => toolsOf(state, entry, userId))
        .map(({ name }) => name)
      return new Set(names)
    },
    async prepare(userId) {
      // Every run asks, and many installations have no servers.
      if (state.entries.length === 0) return
      await identify(state, userId)
      await Promise.race([
        Promise.all(visible(state, userId).map((entry) => entry.openFor(userId))),
        after(PREPARE_MS),
      ])
    },
    async signIn(userId, name, redirectUri) {
      const { settings } = await get(state, userId, name)
      return await signIns.begin(userId, name, settings, redirectUri)
    },
    async finishSignIn(userId, redirected) {
      const { server, grant } = await signIns.finish(userId, redirected)
      const entry = await get(state, userId, server)
      await entry.connect(userId, grant)
    },
    async signOut(userId, name) {
      const entry = await get(state, userId, name)
      await entry.disconnect(userId)
    },
    prompts: (userId) => gather(state, userId, 'prompts', listPrompts),
    prompt: (userId, server, name, values) =>
      ask(state, userId, server, 'mcp_prompt_failed', (client) => fillPrompt(client, name, values)),
    resources: (userId) => gather(state, userId, 'resources', listResources),
    resourceTemplates: (userId) =>
      gather(state, userId, 'resource templates', listResourceTemplates),
    readResource: (userId, server, uri) =>
      ask(state, userId, server, 'mcp_resource_failed', (client) =>
        readResource(client, server, uri),
      ),
    async assertKnown(userId, server) {
      await get(state, userId, server)
    },
    async appTool(userId, server, name) {
      // After a restart, a decision may arrive before the servers are connected.
      await started
      await identify(state, userId)
      const entry = visible(state, userId).find((one) => one.name === server)
      const tool = entry?.of(userId)?.appTool(name)
      return tool == null || state.isOn([tool]).length > 0 ? tool : undefined
    },
    readApp: async (userId, server, uri) => {
      const tools = (await get(state, userId, server)).of(userId)?.connection.tools ?? []
      return await ask(state, userId, server, 'mcp_resource_failed', (client) =>
        readAppResource(client, server, uri, tools),
      )
    },
    switchOff(tools) {
      state.isOn = enabledTools(tools)
    },
    replace: (wanted) => replace(state, wanted),
    test: async (name, settings, signal) =>
      await tryServer(
        {
          name,
          settings,
          ...(await loadEnvironment(state)),
          log: state.options.log,
          offersApps: state.options.offersApps,
          redact: state.options.redact,
        },
        signal,
      ),
    async close() {
      state.isClosed = true
      await Promise.all([...state.entries.map((entry) => entry.close()), ...state.closing])
    },
  }
}

const loadEnvironment = async (state: ServersState): Promise<ToolEnvironment> => ({
  compile: await loadCompiler(),
  prepareImage: state.options.prepareImage,
})

const createEntry = (
  state: ServersState,
  [name, settings]: [string, McpServerSettings],
): ServerEntry => createServerEntry({ ...state.common, name, settings })

const asksWho = (state: ServersState): boolean =>
  state.entries.some(({ settings }) => isLimited(settings))

const toolsOf = (
  state: ServersState,
  entry: ServerEntry,
  userId: UserId | null,
): readonly ToolDefinition[] => state.isOn(entry.tools(userId))

/** Connects to servers, unless they were removed in the meantime. */
async function open(state: ServersState, opened: readonly ServerEntry[]): Promise<void> {
  if (opened.length === 0) return
  const environment = await loadEnvironment(state)
  if (state.isClosed) return
  const present = opened.filter((entry) => state.entries.includes(entry))
  await Promise.race([
    Promise.all(present.map((entry) => entry.open(environment))),
    after(READY_MS),
  ])
}

function drop(state: ServersState, entry: ServerEntry): void {
  const closed: Promise<void> = entry
    .close()
    .catch((error: unknown) =>
      state.options.log('an MCP server was not closed', {
        server: entry.name,
        cause: errorText(error),
      }),
    )
    .finally(() => state.closing.delete(closed))
  state.closing.add(closed)
}

function visible(state: ServersState, userId: UserId | null): ServerEntry[] {
  const user = userId === null ? undefined : state.users.get(userId)
  return state.entries.filter(
    ({ name, settings }) =>
      (!asksWho(state) || maySeeServer(settings, user)) &&
      (state.options.permits?.(userId, name) ?? true),
  )
}

async function get(state: ServersState, userId: UserId, name: string): Promise<ServerEntry> {
  await identify(state, userId)
  const entry = visible(state, userId).find((one) => one.name === name)
  if (entry === undefined) throw appError('mcp_server_not_found')
  return entry
}

async function identify(state: ServersState, userId: UserId): Promise<void> {
  if (!asksWho(state)) return
  const user = await state.options.identify(userId)
  if (user === undefined) state.users.delete(userId)
  else state.users.set(userId, user)
}

/** What the connected servers list. A server that fails contributes nothing. */
async function gather<Item>(
  state: ServersState,
  userId: UserId,
  what: string,
  list: (client: RemoteClient, server: string) => Promise<Item[]>,
): Promise<Item[]> {
  const lists = visible(state, userId).map(async (entry) => {
    const connection = entry.of(userId)?.connection
    if (connection?.status !== 'connected') return []
    return await connection
      .use((client) => list(client, entry.name))
      .catch((fault: unknown) => {
        state.options.log(`the ${what} of an MCP server were not listed`, {
          server: entry.name,
          cause: errorText(fault),
        })
        return []
      })
  })
  return (await Promise.all(lists)).flat()
}

/** Sends a request to one server. @throws AppError `reason` if it fails. */
async function ask<Answer>(
  state: ServersState,
  userId: UserId,
  server: string,
  reason: 'mcp_prompt_failed' | 'mcp_resource_failed',
  work: (client: RemoteClient) => Promise<Answer>,
): Promise<Answer> {
  const connection = (await get(state, userId, server)).of(userId)?.connection
  if (connection === undefined) throw appError('mcp_not_connected', { server })
  try {
    return await connection.use(work)
  } catch (fault) {
    if (fault instanceof AppError) throw fault
    state.options.log('an MCP server refused a request', {
      server,
      reason,
      cause: errorText(fault),
    })
    throw appError(reason, { server })
  }
}

const listAll = (state: ServersState, userId: UserId): ListedMcpServer[] =>
  state.entries.map((entry) => {
    const on = toolsOf(state, entry, userId)
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
  })

function replace(state: ServersState, wanted: Readonly<Record<string, McpServerSettings>>): void {
  if (state.isClosed) return
  const before = state.entries
  state.entries = Object.entries(wanted).map(
    ([name, settings]) =>
      before.find((entry) => entry.name === name && isSame(entry.settings, settings)) ??
      createEntry(state, [name, settings]),
  )
  for (const entry of before) if (!state.entries.includes(entry)) drop(state, entry)
  open(
    state,
    state.entries.filter((entry) => !before.includes(entry)),
  ).catch((error: unknown) =>
    state.options.log('MCP servers were not opened', { cause: errorText(error) }),
  )
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

/**
 * Lets a few programs start at a time: those that failed before wait for those that were never tried.
 * @returns waits until a program may start, and resolves with what must be called once it has started. One that takes long
 *   no longer keeps others from starting.
 */
export function createStarts(): (isFirst: boolean) => Promise<() => void> {
  const first: (() => void)[] = []
  const again: (() => void)[] = []
  let starting = 0
  const next = (): void => {
    const begin = starting < STARTS_AT_ONCE ? (first.shift() ?? again.shift()) : undefined
    if (begin === undefined) return
    starting += 1
    begin()
  }
  return (isFirst) =>
    new Promise((resolve) => {
      const begin = (): void => {
        const end = (): void => {
          if (timer === undefined) return
          clearTimeout(timer)
          timer = undefined
          starting -= 1
          next()
        }
        let timer: NodeJS.Timeout | undefined = setTimeout(end, START_SLOT_MS).unref()
        resolve(end)
      }
      const waiting = isFirst ? first : again
      waiting.push(begin)
      next()
    })
}

/** The user who wants to use a server. */
export interface McpUser {
  username: string
  role: 'admin' | 'user'
}

/** The part of the configuration that says who may see a server. */
type McpAudience = Pick<McpServerSettings, 'users'>

/** Whether visibility depends on the user. */
const isLimited = ({ users }: McpAudience): boolean => users !== undefined

/** A server that is limited to some users is visible to them and to administrators. `undefined`: the user is unknown. */
export const maySeeServer = (audience: McpAudience, user: McpUser | undefined): boolean =>
  !isLimited(audience) ||
  (user !== undefined && (user.role === 'admin' || (audience.users ?? []).includes(user.username)))

const MAX_PROMPTS = 100
const MAX_TEXT = 100_000
const MAX_LINE = 500

/** At most 100; empty if the server offers none. */
async function listPrompts(client: RemoteClient, server: string): Promise<McpPrompt[]> {
  if (client.getServerCapabilities()?.prompts === undefined) return []
  const { prompts } = await client.listPrompts(undefined, { timeout: CONNECT_TIMEOUT_MS })
  return prompts.slice(0, MAX_PROMPTS).map((prompt) => ({
    server,
    name: prompt.name.slice(0, MAX_LINE),
    ...(prompt.title === undefined ? {} : { title: prompt.title.slice(0, MAX_LINE) }),
    ...(prompt.description === undefined
      ? {}
      : { description: prompt.description.slice(0, MAX_LINE) }),
    arguments: (prompt.arguments ?? []).slice(0, 20).map(({ name, description, required }) => ({
      name,
      required: required === true,
      ...(description === undefined ? {} : { description: description.slice(0, MAX_LINE) }),
    })),
  }))
}

/**
 * The texts of the prompt's messages; other content is left out. A person sends the text as their own, so characters that
 * they would not see are escaped. @throws the SDK's error.
 */
async function fillPrompt(
  client: RemoteClient,
  name: string,
  values: Record<string, string>,
): Promise<string> {
  const { messages } = await client.getPrompt(
    { name, arguments: values },
    { timeout: CONNECT_TIMEOUT_MS },
  )
  const text = messages
    .flatMap(({ content }) => {
      if (content.type === 'text') return [content.text]
      return content.type === 'resource' && 'text' in content.resource
        ? [content.resource.text]
        : []
    })
    .join('\n\n')
    .slice(0, MAX_TEXT)
  return visibleText(text).slice(0, MAX_TEXT)
}
