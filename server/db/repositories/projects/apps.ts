// The addresses of apps, and which apps may use the network.
import { and, desc, eq, gt, inArray, isNull, lte, or } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** An address under which a file of a project runs. */
export type AppRow = Database['tables']['apps']['$inferSelect']
/** The permission of a user for an app to use the network. */
export type AppNetworkRow = Database['tables']['appNetworks']['$inferSelect']
type AppPlace = Pick<AppRow, 'userId' | 'projectId' | 'path'>

/** Addresses of one user; a new one ends the oldest. */
const MAX_APPS = 200
/** Permissions of one user; a new one ends the oldest. */
const MAX_NETWORKS = 1_000

/** Stores apps (tables `apps` and `appNetworks`). */
export function createAppRepository(database: Database) {
  return {
    ...appNetworks(database),
    ...openApps(database),
  }
}

/** The addresses that an app may reach. */
function appNetworks(database: Database) {
  const { read, tables } = database
  const { apps, appNetworks } = tables
  const network = ({ userId, projectId, path }: AppPlace) =>
    and(
      eq(appNetworks.userId, userId),
      eq(appNetworks.projectId, projectId),
      eq(appNetworks.path, path),
    )

  /**
   * Ends a permission, and all addresses of the app: a document that was loaded with the network could otherwise load files
   * that were never looked at. @returns whether there was one.
   */
  async function removeNetwork(tx: Writer, app: AppPlace): Promise<boolean> {
    const removed = await tx
      .delete(appNetworks)
      .where(network(app))
      .returning({ path: appNetworks.path })
    if (removed.length === 0) return false
    await tx
      .delete(apps)
      .where(
        and(
          eq(apps.userId, app.userId),
          eq(apps.projectId, app.projectId),
          eq(apps.path, app.path),
        ),
      )
    return true
  }

  return {
    removeNetwork,

    /** The permission of the user for this file; undefined if there is none. */
    async findNetwork(app: AppPlace): Promise<AppNetworkRow | undefined> {
      const [row] = await read.select().from(appNetworks).where(network(app))
      return row
    },

    /** All permissions of a user, newest first. There are at most as many as the limit above. */
    listNetworks: (userId: UserId): Promise<AppNetworkRow[]> =>
      read
        .select()
        .from(appNetworks)
        .where(eq(appNetworks.userId, userId))
        .orderBy(desc(appNetworks.allowedAt), desc(appNetworks.projectId), desc(appNetworks.path)),

    /**
     * The same for an address, in one reading: undefined if it has ended; `outside` is null if there is no permission, and so
     * none of its documents may use the network.
     */
    async networkOfAddress(id: string): Promise<{ outside: readonly string[] | null } | undefined> {
      const [row] = await read
        .select({ outside: appNetworks.outside })
        .from(apps)
        .leftJoin(
          appNetworks,
          and(
            eq(appNetworks.userId, apps.userId),
            eq(appNetworks.projectId, apps.projectId),
            eq(appNetworks.path, apps.path),
          ),
        )
        .where(eq(apps.id, id))
      return row
    },

    /** Stores a permission. @returns those that it ends: the oldest beyond the limit. */
    async allowNetwork(tx: Writer, row: AppNetworkRow): Promise<AppNetworkRow[]> {
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
      for (const one of old) await removeNetwork(tx, one)
      return old
    },
  }
}

/** Apps that are open, by their token. */
function openApps(database: Database) {
  const { read, tables } = database
  const { apps, users, sessions, apiKeys } = tables
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

    /**
     * The app of a token, by the hash of the token; undefined once it, the session or the API key that made it has expired,
     * and while the account is disabled.
     */
    async byToken(tokenHash: string, at: Date): Promise<AppRow | undefined> {
      const [found] = await read
        .select({ app: apps })
        .from(apps)
        .innerJoin(users, eq(users.id, apps.userId))
        .leftJoin(sessions, eq(sessions.id, apps.sessionId))
        .leftJoin(apiKeys, eq(apiKeys.id, apps.apiKeyId))
        .where(
          and(
            eq(apps.tokenHash, tokenHash),
            gt(apps.expiresAt, at),
            eq(users.isActive, true),
            or(isNull(apps.sessionId), gt(sessions.expiresAt, at)),
            or(isNull(apps.apiKeyId), isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, at)),
          ),
        )
      return found?.app
    },

    async find(userId: UserId, id: string): Promise<AppRow | undefined> {
      const [row] = await read
        .select()
        .from(apps)
        .where(and(eq(apps.id, id), eq(apps.userId, userId)))
      return row
    },
  }
}
