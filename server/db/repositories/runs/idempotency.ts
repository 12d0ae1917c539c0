// The Idempotency-Keys of requests that create something, with the responses to these requests.
import { and, eq, lt, ne } from 'drizzle-orm'
import type { RunId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { isGone } from './leases.ts'

/** A row of `idempotency_keys`. */
export type IdempotencyRow = Database['tables']['idempotencyKeys']['$inferSelect']

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

    /** Stores the response; `sealedBody` is null when it is too large to be repeated. */
    finish: (key: Key, response: { status: number; sealedBody: string | null }): Promise<void> =>
      write(async (tx) => {
        await tx
          .update(keys)
          .set({ ...response, state: 'finished' })
          .where(and(ofKey(key), eq(keys.state, 'pending')))
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
