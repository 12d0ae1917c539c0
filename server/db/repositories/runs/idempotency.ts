// The Idempotency-Keys of requests that create something, with the responses to these requests.
import { and, eq, isNotNull, lt, ne, type SQL, sql } from 'drizzle-orm'
import type { RunId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { isGone } from './leases.ts'

/** A row of `idempotency_keys`. */
export type IdempotencyRow = Database['tables']['idempotencyKeys']['$inferSelect']

/** Of one account: bytes of stored responses, and keys. */
const MAX_BODY_BYTES = 4_000_000
const MAX_KEYS = 5_000

type Key = { userId: UserId; key: string }

/** Uses the table `idempotencyKeys`. */
export function createIdempotencyRepository(database: Database) {
  const { read, write, tables } = database
  const { idempotencyKeys: keys } = tables
  const ofKey = ({ userId, key }: Key) => and(eq(keys.userId, userId), eq(keys.key, key))

  return {
    /**
     * Claims a key. Null on success; otherwise the row of the earlier request with this key. A key whose process ended
     * before the request was finished is free again.
     */
    claim: (row: IdempotencyRow): Promise<IdempotencyRow | null> =>
      write(async (tx) => {
        await tx
          .delete(keys)
          .where(
            and(
              ofKey(row),
              eq(keys.state, 'pending'),
              ne(keys.instance, row.instance),
              isGone(database, keys.instance),
            ),
          )
        const inserted = await tx
          .insert(keys)
          .values(row)
          .onConflictDoNothing()
          .returning({ key: keys.key })
        if (inserted.length > 0) return null
        const [taken] = await tx.select().from(keys).where(ofKey(row))
        return taken ?? null
      }),

    /**
     * Stores the response; `sealedBody` is null when it is too large to be repeated. Of each account, the newest responses
     * up to `MAX_BODY_BYTES` and the newest keys up to `MAX_KEYS` stay.
     */
    finish: (
      key: Key,
      response: { status: number; sealedBody: string | null; fingerprint?: string },
    ): Promise<void> =>
      write(async (tx) => {
        await tx
          .update(keys)
          .set({ ...response, state: 'finished' })
          .where(and(ofKey(key), eq(keys.state, 'pending')))
        const own = and(eq(keys.userId, key.userId), eq(keys.state, 'finished'))
        const newestFirst = sql`over (order by ${keys.createdAt} desc, ${keys.key})`
        const beyond = (count: SQL, limit: number, also?: SQL) =>
          sql`${keys.key} in (select key from (
            select ${keys.key} as key, ${count} ${newestFirst} as amount from ${keys} where ${and(own, also)}
          ) as counted where amount > ${sql.raw(String(limit))})`
        const bytes = sql`sum(octet_length(${keys.sealedBody}))`
        if (response.sealedBody !== null)
          await tx
            .update(keys)
            .set({ sealedBody: null })
            .where(and(own, beyond(bytes, MAX_BODY_BYTES, isNotNull(keys.sealedBody))))
        await tx.delete(keys).where(and(own, beyond(sql`count(*)`, MAX_KEYS)))
      }),

    /** The request started this run: repeating it joins the run. */
    bindRun: (key: Key, runId: RunId): Promise<void> =>
      write(async (tx) => {
        await tx.update(keys).set({ runId, state: 'finished' }).where(ofKey(key))
      }),

    /** The request failed: it may be sent again. */
    release: (key: Key): Promise<void> =>
      write(async (tx) => {
        await tx.delete(keys).where(and(ofKey(key), eq(keys.state, 'pending')))
      }),

    /** Removes keys that were claimed before a given time. */
    async purge(before: Date): Promise<void> {
      const [due] = await read
        .select({ key: keys.key })
        .from(keys)
        .where(lt(keys.createdAt, before))
        .limit(1)
      if (due !== undefined)
        await write(async (tx) => {
          await tx.delete(keys).where(lt(keys.createdAt, before))
        })
    },
  }
}
