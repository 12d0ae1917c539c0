// Apps of MCP servers: which domains a person allows them, and the address of the frame that holds them to it.
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import { domainsOf, type McpAppCsp, sortedDomains } from '../protocol/mcp-app.ts'
import { PROXY_PATH } from './proxy.ts'

/** What people allow apps of MCP servers. */
export type McpApps = ReturnType<typeof createMcpApps>

interface Dependencies {
  database: Database
  store: Pick<Store, 'mcpAppDomains' | 'audit'>
  now(): Date
}

/** Create one per server. */
export function createMcpApps({ database, store, now }: Dependencies) {
  return {
    /** Whether the user has allowed the server exactly the domains that an app asks for. False if it asks for none. */
    async areAllowed(userId: UserId, server: string, csp: McpAppCsp): Promise<boolean> {
      const domains = domainsOf(csp)
      return domains.length > 0 && (await store.mcpAppDomains.has({ userId, server, domains }))
    },

    /** What the user has allowed a server, newest first. */
    list: (userId: UserId, server: string) => store.mcpAppDomains.list({ userId, server }),

    /** Allows a list of domains, or no longer. @returns the list as it is compared. */
    async setDomains(
      { userId, server }: { userId: UserId; server: string },
      { domains: given, allowed }: { domains: readonly string[]; allowed: boolean },
      actor: Actor,
    ): Promise<{ domains: string[]; allowed: boolean }> {
      const domains = sortedDomains(given)
      const at = now()
      await database.write(async (tx) => {
        const changed = allowed
          ? await store.mcpAppDomains.add(tx, { userId, server, domains, allowedAt: at })
          : await store.mcpAppDomains.remove(tx, { userId, server, domains })
        if (!changed) return
        await store.audit.record(tx, actor, {
          action: allowed ? 'mcp_app_domains_allowed' : 'mcp_app_domains_ended',
          at,
          details: { server, domains: domains.join(' ').slice(0, 2_000) },
        })
      })
      return { domains, allowed }
    },
  }
}

/** The address of the frame of an app, with what of its requests is allowed: domains, or nothing. */
export function frameAddress(
  { appsOrigin, pageOrigin }: { appsOrigin: string; pageOrigin: string },
  { connectDomains = [], resourceDomains = [] }: McpAppCsp,
  isAllowed: boolean,
): string {
  const query = new URLSearchParams({ page: pageOrigin })
  if (isAllowed) query.set('csp', JSON.stringify({ connectDomains, resourceDomains }))
  return `${appsOrigin}${PROXY_PATH}?${query}`
}
