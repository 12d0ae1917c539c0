// Which domains people have allowed the apps of MCP servers.
import { createHash } from 'node:crypto'
import { and, desc, eq, inArray } from 'drizzle-orm'
import type { Database, Writer } from '../../database.ts'

/** The permission of a user for one list of domains of a server. */
export type McpAppDomainsRow = Database['tables']['mcpAppDomains']['$inferSelect']
type Place = Pick<McpAppDomainsRow, 'userId' | 'server' | 'domains'>

/** Permissions of one user; a new one ends the oldest. */
const MAX_PERMISSIONS = 500

/** Stores them (table `mcpAppDomains`). Lists are compared as they are: give each in order, without duplicates. */
export function createMcpAppDomainRepository(database: Database) {
  const { mcpAppDomains: table } = database.tables
  const isSame = ({ userId, server, domains }: Place) =>
    and(eq(table.userId, userId), eq(table.server, server), eq(table.hash, hashOf(domains)))
  return {
    /** Whether the user has allowed the server exactly this list. */
    async has(place: Place): Promise<boolean> {
      const rows = await database.read.select({ hash: table.hash }).from(table).where(isSame(place))
      return rows.length > 0
    },

    /** What the user has allowed a server, newest first. */
    async list({
      userId,
      server,
    }: Pick<Place, 'userId' | 'server'>): Promise<
      Pick<McpAppDomainsRow, 'domains' | 'allowedAt'>[]
    > {
      return await database.read
        .select({ domains: table.domains, allowedAt: table.allowedAt })
        .from(table)
        .where(and(eq(table.userId, userId), eq(table.server, server)))
        .orderBy(desc(table.allowedAt), desc(table.hash))
        .limit(MAX_PERMISSIONS)
    },

    /** Stores a permission. @returns whether it is new. */
    async add(tx: Writer, row: Place & { allowedAt: Date }): Promise<boolean> {
      const added = await tx
        .insert(table)
        .values({ ...row, domains: [...row.domains], hash: hashOf(row.domains) })
        .onConflictDoNothing()
        .returning({ hash: table.hash })
      if (added.length === 0) return false
      const old = await tx
        .select({ server: table.server, hash: table.hash })
        .from(table)
        .where(eq(table.userId, row.userId))
        .orderBy(desc(table.allowedAt), desc(table.server), desc(table.hash))
        .offset(MAX_PERMISSIONS)
        .limit(MAX_PERMISSIONS)
      for (const { server, hash } of old)
        await tx
          .delete(table)
          .where(
            and(
              eq(table.userId, row.userId),
              eq(table.server, server),
              inArray(table.hash, [hash]),
            ),
          )
      return true
    },

    /** Ends a permission. @returns whether there was one. */
    async remove(tx: Writer, place: Place): Promise<boolean> {
      const removed = await tx.delete(table).where(isSame(place)).returning({ hash: table.hash })
      return removed.length > 0
    },
  }
}

const hashOf = (domains: readonly string[]): string =>
  createHash('sha256').update(domains.join(' ')).digest('hex')
