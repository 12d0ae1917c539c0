// The addresses of apps, and which apps may use the network.
import { and, desc, eq, inArray, lte } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** An address under which a file of a project runs. */
export type AppRow = Database['tables']['apps']['$inferSelect']
/** The permission of a user for an app to use the network. */
export type AppNetworkRow = Database['tables']['appNetworks']['$inferSelect']

/** Addresses of one user; a new one ends the oldest. */
const MAX_APPS = 200
/** Permissions of one user; a new one ends the oldest. */
const MAX_NETWORKS = 1_000

/** Stores apps (tables `apps` and `appNetworks`). */
export function createAppRepository(database: Database) {
  const { read, tables } = database
  const { apps, appNetworks } = tables
  const network = ({ userId, projectId, path }: Pick<AppRow, 'userId' | 'projectId' | 'path'>) =>
    and(
      eq(appNetworks.userId, userId),
      eq(appNetworks.projectId, projectId),
      eq(appNetworks.path, path),
    )

  return {
    /** Stores an address; addresses of the user that have expired, or are too many, end. */
    add: (row: AppRow): Promise<void> =>
      database.write(async (tx) => {
        await tx
          .delete(apps)
          .where(and(eq(apps.userId, row.userId), lte(apps.expiresAt, row.createdAt)))
        const old = await tx
          .select({ id: apps.id })
          .from(apps)
          .where(eq(apps.userId, row.userId))
          .orderBy(desc(apps.createdAt), desc(apps.id))
          .offset(MAX_APPS - 1)
          .limit(MAX_APPS)
        if (old.length > 0)
          await tx.delete(apps).where(
            inArray(
              apps.id,
              old.map(({ id }) => id),
            ),
          )
        await tx.insert(apps).values(row)
      }),

    /** The app of a token, by the hash of the token. */
    async byToken(tokenHash: string): Promise<AppRow | undefined> {
      const [row] = await read.select().from(apps).where(eq(apps.tokenHash, tokenHash))
      return row
    },

    async find(userId: UserId, id: string): Promise<AppRow | undefined> {
      const [row] = await read
        .select()
        .from(apps)
        .where(and(eq(apps.id, id), eq(apps.userId, userId)))
      return row
    },

    /** The permission of the user for this file; undefined if there is none. */
    async findNetwork(
      app: Pick<AppRow, 'userId' | 'projectId' | 'path'>,
    ): Promise<AppNetworkRow | undefined> {
      const [row] = await read.select().from(appNetworks).where(network(app))
      return row
    },

    /** Stores a permission; the oldest beyond the limit end. */
    async allowNetwork(tx: Writer, row: AppNetworkRow): Promise<void> {
      const { outside, allowedAt } = row
      await tx
        .insert(appNetworks)
        .values(row)
        .onConflictDoUpdate({
          target: [appNetworks.userId, appNetworks.projectId, appNetworks.path],
          set: { outside, allowedAt },
        })
      const old = await tx
        .select()
        .from(appNetworks)
        .where(eq(appNetworks.userId, row.userId))
        .orderBy(desc(appNetworks.allowedAt), desc(appNetworks.projectId), desc(appNetworks.path))
        .offset(MAX_NETWORKS)
        .limit(MAX_NETWORKS)
      for (const one of old) await tx.delete(appNetworks).where(network(one))
    },

    /** Ends a permission. @returns whether there was one. */
    async removeNetwork(
      tx: Writer,
      app: Pick<AppRow, 'userId' | 'projectId' | 'path'>,
    ): Promise<boolean> {
      const removed = await tx
        .delete(appNetworks)
        .where(network(app))
        .returning({ path: appNetworks.path })
      return removed.length > 0
    },
  }
}
