// MCP servers that an administrator added, with sealed settings, and the switches of those in `config.yml`.
import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Database, Writer } from '../database.ts'

/** An MCP server that an administrator added, or the switch of a configured one. */
export interface StoredMcpServer {
  name: string
  /** Null for a server of `config.yml`, of which only the switch is stored. */
  sealedSettings: string | null
  isEnabled: boolean
  /** The names of its tools that are switched off; null if none. */
  disabledTools: readonly string[] | null
}

/** What administrators can also switch of a server of `config.yml`. */
export type McpSwitches = Pick<StoredMcpServer, 'isEnabled' | 'disabledTools'>

/** A write that is part of a change. */
type InChange = (tx: Writer) => Promise<void>

/** Stores MCP servers. */
export type McpServerRepository = ReturnType<typeof createMcpServerRepository>

/** Uses the tables `mcpServers` and `mcpGrants`. */
export function createMcpServerRepository(database: Database) {
  const { read, write, tables } = database
  const { mcpServers, mcpGrants } = tables
  const columns = {
    name: mcpServers.name,
    sealedSettings: mcpServers.sealedSettings,
    isEnabled: mcpServers.isEnabled,
    disabledTools: mcpServers.disabledTools,
  }
  return {
    /** In the order in which they were added. */
    list: async (): Promise<StoredMcpServer[]> =>
      await read
        .select(columns)
        .from(mcpServers)
        .orderBy(asc(mcpServers.createdAt), asc(mcpServers.name)),

    /** Adds a server. False when one with this name is stored. `after` is part of the change, here and below. */
    async create(server: StoredMcpServer, after: InChange): Promise<boolean> {
      try {
        await write(async (tx) => {
          // Removes the switch of a server that has left the configuration.
          await tx
            .delete(mcpServers)
            .where(and(eq(mcpServers.name, server.name), isNull(mcpServers.sealedSettings)))
          await tx.insert(mcpServers).values({ ...server, createdAt: new Date() })
          await after(tx)
        })
        return true
      } catch (error) {
        if (database.isUniqueViolation(error)) return false
        throw error
      }
    },

    /**
     * Changes a server from its current state, so that the second of two concurrent changes sees the result of the
     * first. False when there is none. When `change` throws, nothing is stored.
     */
    change: (
      name: string,
      change: (before: StoredMcpServer) => Omit<StoredMcpServer, 'name'>,
      after: InChange,
    ): Promise<boolean> =>
      write(async (tx) => {
        await tx.lock(`mcp server ${name}`)
        const [before] = await tx.select(columns).from(mcpServers).where(eq(mcpServers.name, name))
        if (before === undefined) return false
        await tx.update(mcpServers).set(change(before)).where(eq(mcpServers.name, name))
        await after(tx)
        return true
      }),

    /** Changes the switches of a server of `config.yml` from their current state. */
    switchConfigured: async (
      name: string,
      change: (before: McpSwitches) => McpSwitches,
      after: InChange,
    ): Promise<void> => {
      await write(async (tx) => {
        await tx.lock(`mcp server ${name}`)
        const [before = { isEnabled: true, disabledTools: null }] = await tx
          .select({ isEnabled: columns.isEnabled, disabledTools: columns.disabledTools })
          .from(mcpServers)
          .where(eq(mcpServers.name, name))
        const set = change(before)
        await tx
          .insert(mcpServers)
          .values({ name, sealedSettings: null, ...set, createdAt: new Date() })
          .onConflictDoUpdate({ target: mcpServers.name, set })
        await after(tx)
      })
    },

    /** Removes a server and all sign-ins to it. False when there is no such server. */
    remove: (name: string, after: InChange): Promise<boolean> =>
      write(async (tx) => {
        const [found] = await tx
          .select({ name: mcpServers.name })
          .from(mcpServers)
          .where(eq(mcpServers.name, name))
        if (found === undefined) return false
        await tx.delete(mcpGrants).where(eq(mcpGrants.server, name))
        await tx.delete(mcpServers).where(eq(mcpServers.name, name))
        await after(tx)
        return true
      }),
  }
}
