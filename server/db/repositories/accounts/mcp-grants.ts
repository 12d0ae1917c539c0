// Sign-ins of users to MCP servers, and registrations at authorization servers; both sealed.
import { and, eq } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

export type McpGrantRepository = ReturnType<typeof createMcpGrantRepository>

export function createMcpGrantRepository(database: Database) {
  const { mcpGrants, mcpClients } = database.tables
  const isGrant = (userId: UserId, server: string) =>
    and(eq(mcpGrants.userId, userId), eq(mcpGrants.server, server))
  return {
    async find(userId: UserId, server: string): Promise<string | undefined> {
      const [row] = await database.read.select().from(mcpGrants).where(isGrant(userId, server))
      return row?.sealed
    },

    async save(userId: UserId, server: string, sealed: string): Promise<void> {
      await database.write((tx) =>
        tx
          .insert(mcpGrants)
          .values({ userId, server, sealed })
          .onConflictDoUpdate({ target: [mcpGrants.userId, mcpGrants.server], set: { sealed } }),
      )
    },

    async remove(userId: UserId, server: string): Promise<void> {
      await database.write((tx) => tx.delete(mcpGrants).where(isGrant(userId, server)))
    },

    async findClient(issuer: string, redirectUri: string): Promise<string | undefined> {
      const [row] = await database.read
        .select()
        .from(mcpClients)
        .where(and(eq(mcpClients.issuer, issuer), eq(mcpClients.redirectUri, redirectUri)))
      return row?.sealed
    },

    async saveClient(issuer: string, redirectUri: string, sealed: string): Promise<void> {
      await database.write((tx) =>
        tx
          .insert(mcpClients)
          .values({ issuer, redirectUri, sealed })
          .onConflictDoUpdate({
            target: [mcpClients.issuer, mcpClients.redirectUri],
            set: { sealed },
          }),
      )
    },
  }
}
