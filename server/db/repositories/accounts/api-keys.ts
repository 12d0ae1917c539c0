// API keys, of which only hashes are stored.
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { newId } from '../../../lib/ids.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { countAll } from '../../fragments.ts'
import type { UserRow } from './users.ts'

/** A row of `api_keys`. Contains a hash of the key, never the key. */
export type ApiKeyRow = Database['tables']['apiKeys']['$inferSelect']

/** Stores API keys. */
export type ApiKeyRepository = ReturnType<typeof createApiKeyRepository>

/** Uses the tables `apiKeys` and `users`. */
export function createApiKeyRepository(database: Database) {
  const { read, tables } = database
  const { apiKeys, users } = tables

  return {
    /**
     * Creates a key.
     * @param key everything but the id; only the key's hash is stored.
     * @param mayCreate receives the account as the transaction sees it, and throws to refuse.
     * @param after is part of the creation.
     * @returns null when the user already has `atMost` keys.
     */
    create: ({
      atMost,
      mayCreate,
      after,
      ...key
    }: Omit<ApiKeyRow, 'id' | 'createdAt' | 'lastUsedAt'> & {
      atMost: number
      mayCreate(user: UserRow | undefined): void
      after(tx: Writer, row: ApiKeyRow): Promise<void>
    }) =>
      database.write(async (tx): Promise<ApiKeyRow | null> => {
        // A password change takes the same lock: a key is created before the change and revoked by it, or not created.
        await tx.lock('users')
        const [user] = await tx.select().from(users).where(eq(users.id, key.userId))
        mayCreate(user)
        const [present] = await tx
          .select({ count: countAll })
          .from(apiKeys)
          .where(eq(apiKeys.userId, key.userId))
        if ((present?.count ?? 0) >= atMost) return null
        const row = { ...key, id: newId<string>(), createdAt: new Date(), lastUsedAt: null }
        await tx.insert(apiKeys).values(row)
        await after(tx, row)
        return row
      }),

    /** A user's keys: at most a hundred, oldest first. */
    list: async (userId: UserId): Promise<ApiKeyRow[]> =>
      read
        .select()
        .from(apiKeys)
        .where(eq(apiKeys.userId, userId))
        .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
        .limit(100),

    /** False when the user has no such key. `after` is part of the removal. */
    remove: (
      userId: UserId,
      id: string,
      after: (tx: Writer, row: ApiKeyRow) => Promise<void>,
    ): Promise<boolean> =>
      database.write(async (tx) => {
        const owned = and(eq(apiKeys.id, id), eq(apiKeys.userId, userId))
        const [removed] = await tx.delete(apiKeys).where(owned).returning()
        if (removed === undefined) return false
        await after(tx, removed)
        return true
      }),

    /** The key with this hash and its owner's account. */
    async findByHash(hash: string): Promise<{ user: UserRow; key: ApiKeyRow } | undefined> {
      const [found] = await read
        .select({ user: users, key: apiKeys })
        .from(apiKeys)
        .innerJoin(users, eq(users.id, apiKeys.userId))
        .where(eq(apiKeys.hash, hash))
      return found
    },

    /** Records that a key was used, at most once a minute per key. */
    touch: (id: string, now: Date): Promise<void> =>
      database.write(async (tx) => {
        const minuteAgo = new Date(now.getTime() - 60_000)
        await tx
          .update(apiKeys)
          .set({ lastUsedAt: now })
          .where(
            and(
              eq(apiKeys.id, id),
              sql`not ${and(sql`${apiKeys.lastUsedAt} is not null`, gt(apiKeys.lastUsedAt, minuteAgo))}`,
            ),
          )
      }),
  }
}
