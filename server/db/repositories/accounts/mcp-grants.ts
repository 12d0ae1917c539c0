// Sign-ins of users to MCP servers, and registrations at authorization servers; both sealed.
import { and, desc, eq, gt, inArray, lte } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** Maximum pending sign-ins of a user; beyond it, the oldest are removed. */
const MAX_SIGN_INS = 20

/** Stores the sealed sign-ins of users to MCP servers. Uses the tables `mcpGrants`, `mcpClients` and `mcpSignIns`. */
export function createMcpGrantRepository(database: Database) {
  const { mcpGrants, mcpClients, mcpSignIns } = database.tables
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

    /** Stores a pending sign-in and removes expired ones. */
    async saveSignIn(
      row: { stateHash: string; userId: UserId; sealed: string; expiresAt: Date },
      now: Date,
    ): Promise<void> {
      await database.write(async (tx) => {
        await tx.delete(mcpSignIns).where(lte(mcpSignIns.expiresAt, now))
        const known = await tx
          .select({ stateHash: mcpSignIns.stateHash })
          .from(mcpSignIns)
          .where(eq(mcpSignIns.userId, row.userId))
          .orderBy(desc(mcpSignIns.expiresAt))
        const surplus = known.slice(MAX_SIGN_INS - 1).map(({ stateHash }) => stateHash)
        if (surplus.length > 0)
          await tx.delete(mcpSignIns).where(inArray(mcpSignIns.stateHash, surplus))
        await tx.insert(mcpSignIns).values(row)
      })
    },

    /** Removes and returns the pending sign-in of this user, so that only one instance completes it. */
    async consumeSignIn(stateHash: string, userId: UserId, now: Date): Promise<string | undefined> {
      const [taken] = await database.write((tx) =>
        tx
          .delete(mcpSignIns)
          .where(
            and(
              eq(mcpSignIns.stateHash, stateHash),
              eq(mcpSignIns.userId, userId),
              gt(mcpSignIns.expiresAt, now),
            ),
          )
          .returning({ sealed: mcpSignIns.sealed }),
      )
      return taken?.sealed
    },
  }
}
