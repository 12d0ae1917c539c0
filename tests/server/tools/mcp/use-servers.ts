// MCP servers that a test connects to and calls; closed when the test ends.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { readResultImage } from '../../../../server/files/images.ts'
import { createAddressRules } from '../../../../server/net/addresses.ts'
import { createGuardedFetch, type GuardedFetch } from '../../../../server/net/guarded-fetch.ts'
import { UserId } from '../../../../server/protocol/ids.ts'
import type { McpServerSettings } from '../../../../server/protocol/models/mcp.ts'
import type { ToolDefinition, ToolResult } from '../../../../server/tools/definition.ts'
import type {
  McpGrant,
  McpGrantStore,
  OAuthClient,
  PendingSignIn,
} from '../../../../server/tools/mcp/oauth/grant.ts'
import { createMcpServers } from '../../../../server/tools/mcp/servers.ts'
import { eventually } from '../../../support/eventually.ts'
import { runChecked, toolContext } from '../support.ts'

export const SOMEBODY = UserId.parse('018f0000-0000-7000-8000-000000000001')

/** As a server without settings for its network has it. */
export function publicWeb(): GuardedFetch {
  const web = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: [], allowPorts: [80, 443] }),
  })
  onTestFinished(() => web.close())
  return web
}

/** Grants in memory. */
export function memoryGrants(): McpGrantStore {
  const grants = new Map<string, McpGrant>()
  const clients = new Map<string, OAuthClient>()
  const pending = new Map<string, PendingSignIn>()
  return {
    find: async (userId, server) => grants.get(`${userId} ${server}`),
    save: async (userId, server, grant) => void grants.set(`${userId} ${server}`, grant),
    remove: async (userId, server) => void grants.delete(`${userId} ${server}`),
    findClient: async (issuer, redirectUri) => clients.get(`${issuer} ${redirectUri}`),
    saveClient: async (issuer, redirectUri, client) =>
      void clients.set(`${issuer} ${redirectUri}`, client),
    savePending: async (userId, state, begun) => void pending.set(`${userId} ${state}`, begun),
    async consumePending(userId, state) {
      const begun = pending.get(`${userId} ${state}`)
      pending.delete(`${userId} ${state}`)
      return begun
    },
  }
}

/** Connects to the servers; `connected` waits until one of them is connected. */
export function start(
  servers: Record<string, McpServerSettings>,
  { offersApps = false }: { offersApps?: boolean } = {},
) {
  const logged: string[] = []
  const mcp = createMcpServers({
    servers,
    grants: memoryGrants(),
    clientMetadataUrl: null,
    web: publicWeb(),
    identify: async (userId) =>
      userId === SOMEBODY ? { username: 'ann', role: 'user' } : undefined,
    prepareImage: readResultImage,
    redact: (text) => text,
    log: (message) => void logged.push(message),
    offersApps,
    firstPauseMs: 20,
  })
  onTestFinished(() => mcp.close())
  const tools = {
    get: (name: string): ToolDefinition | undefined =>
      mcp.tools(SOMEBODY).find((tool) => tool.name === name),
  }
  const connected = (name: string) =>
    eventually(() =>
      expect(mcp.list(SOMEBODY).find((server) => server.name === name)?.state).toBe('connected'),
    )
  return { tools, mcp, connected, logged }
}

/** Calls a tool. @throws if it does not exist or refuses the arguments. */
export async function call(
  tool: ToolDefinition | undefined,
  input: Record<string, unknown> = {},
  signal = new AbortController().signal,
): Promise<ToolResult> {
  const parsed = tool?.parse(JSON.stringify(input))
  if (parsed?.ok !== true) throw new Error(parsed?.error ?? 'no such tool')
  return runChecked(parsed.input, toolContext({ signal }))
}

/** A folder that is removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
