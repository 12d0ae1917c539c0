// The Idempotency-Keys of requests that create something, with the responses to these requests.
import { and, type Column, eq, isNotNull, lt, ne, type SQL, sql } from 'drizzle-orm'
import type { ConversationId, RunId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { isGone } from './leases.ts'

/** A row of `idempotency_keys`. */
export type IdempotencyRow = Database['tables']['idempotencyKeys']['$inferSelect']

/** Of one account: bytes of stored responses, keys, and keys whose response is read from a run. */
const MAX_BODY_BYTES = 4_000_000
const MAX_KEYS = 5_000
const MAX_RUNS = 1_000

type Key = { userId: UserId; key: string }

/**
 * Whether a conversation has a run from which the response to a repeated request is read. It stays as long as the key does,
 * also if it is temporary.
 */
export const isKeptForKey = (
  { idempotencyKeys: keys, runs }: Pick<Database['tables'], 'idempotencyKeys' | 'runs'>,
  conversationId: Column | ConversationId,
): SQL =>
  sql`exists (select 1 from ${keys} inner join ${runs} on ${eq(keys.runId, runs.id)} where ${eq(runs.conversationId, conversationId)})`

/** Uses the tables `idempotencyKeys` and `runs`. */
export function createIdempotencyRepository(database: Database) {
  const { read, write, tables } = database
  const { idempotencyKeys: keys } = tables

  const ownFinished = (userId: UserId) => and(eq(keys.userId, userId), eq(keys.state, 'finished'))
  /** The user's keys after the newest ones, which reach the limit. `also` says which of them count. */
  const beyond = (userId: UserId, count: SQL, limit: number, also?: SQL) =>
    and(
      ownFinished(userId),
      sql`${keys.key} in (select key from (
        select ${keys.key} as key, ${count} over (order by ${keys.createdAt} desc, ${keys.key}) as amount
        from ${keys} where ${and(ownFinished(userId), also)}
      ) as counted where amount > ${sql.raw(String(limit))})`,
    )
  const removeOldest = (tx: Writer, userId: UserId) =>
    tx.delete(keys).where(beyond(userId, sql`count(*)`, MAX_KEYS))

  return {
    /**
     * Claims a key. Null on success; otherwise the row of the earlier request with this key. A key whose process ended
     * before the request was finished is free again.
     */
    claim: (row: IdempotencyRow) => claim(database, row),

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
          .where(and(ofKey(database, key), eq(keys.state, 'pending')))
        const bytes = sql`sum(octet_length(${keys.sealedBody}))`
        if (response.sealedBody !== null)
          await tx
            .update(keys)
            .set({ sealedBody: null })
            .where(beyond(key.userId, bytes, MAX_BODY_BYTES, isNotNull(keys.sealedBody)))
        await removeOldest(tx, key.userId)
      }),

    /** The request started this run: repeating it joins the run. Of each account, this holds for the newest `MAX_RUNS`. */
    bindRun: (key: Key, runId: RunId): Promise<void> =>
      write(async (tx) => {
        await tx.update(keys).set({ runId, state: 'finished' }).where(ofKey(database, key))
        await tx
          .update(keys)
          .set({ runId: null })
          .where(beyond(key.userId, sql`count(*)`, MAX_RUNS, isNotNull(keys.runId)))
        await removeOldest(tx, key.userId)
      }),

    /** Whether a conversation stays because repeated requests are answered from it. */
    async keeps(conversationId: ConversationId): Promise<boolean> {
      const [row] = await read
        .select({ isKept: isKeptForKey(tables, conversationId).mapWith(Boolean) })
        .from(sql`(select 1) as one`)
      return row?.isKept === true
    },

    /** The request failed: it may be sent again. */
    release: (key: Key): Promise<void> =>
      write(async (tx) => {
        await tx.delete(keys).where(and(ofKey(database, key), eq(keys.state, 'pending')))
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

function claim(database: Database, row: IdempotencyRow): Promise<IdempotencyRow | null> {
  const { write } = database
  const { idempotencyKeys: keys } = database.tables
  return write(async (tx) => {
    await tx
      .delete(keys)
      .where(
        and(
          ofKey(database, row),
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
    const [taken] = await tx.select().from(keys).where(ofKey(database, row))
    return taken ?? null
  })
}

function ofKey(database: Database, { userId, key }: Key) {
  const { idempotencyKeys: keys } = database.tables
  return and(eq(keys.userId, userId), eq(keys.key, key))
}
