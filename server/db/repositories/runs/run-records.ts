// Records of what runs sent to providers and received, and the parts of prompts that records refer to by hash.
import { and, asc, desc, eq, exists, inArray, lt, not, type Placeholder, sql } from 'drizzle-orm'
import type { ConversationId, RunId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { byteLength, countAll, inParallel } from '../../fragments.ts'
import { prepareInserts, prepareLookup } from '../../many-rows.ts'

/** A row of `run_records`. */
export type RunRecordRow = Database['tables']['runRecords']['$inferSelect']
/** A row of `prompt_parts`: one part of a prompt, stored once per conversation. */
export type PromptPartRow = Database['tables']['promptParts']['$inferSelect']

/** Stores the records of runs for the inspector. */
export type RunRecordRepository = ReturnType<typeof createRunRecordRepository>

/** Rows of one statement. */
const BATCH_SIZE = 200
/** Excludes storing parts while the ones without a record are removed. */
const LOCK = 'run records'

/** Reads the records of runs. */
function createRunRecordReader({ read, tables }: Pick<Database, 'read' | 'tables'>) {
  const { runRecords, promptParts, runs } = tables

  return {
    /** All records of a run, in order. */
    list: (runId: RunId): Promise<RunRecordRow[]> =>
      read
        .select()
        .from(runRecords)
        .where(eq(runRecords.runId, runId))
        .orderBy(asc(runRecords.attempt), asc(runRecords.number)),

    /** The newest run of a conversation that began before a given time and has records. */
    async previousRun(conversationId: ConversationId, before: Date): Promise<RunId | undefined> {
      const [row] = await read
        .select({ id: runs.id })
        .from(runs)
        .where(
          and(
            eq(runs.conversationId, conversationId),
            lt(runs.createdAt, before),
            exists(
              read.select({ one: sql`1` }).from(runRecords).where(eq(runRecords.runId, runs.id)),
            ),
          ),
        )
        .orderBy(desc(runs.createdAt))
        .limit(1)
      return row?.id
    },

    /** The stored parts of a conversation with these hashes. */
    async parts(
      conversationId: ConversationId,
      hashes: Iterable<string>,
    ): Promise<Omit<PromptPartRow, 'conversationId'>[]> {
      const { hash, characters, content } = promptParts
      const columns = { hash, characters, content }
      const pages = batches([...hashes]).map((some) =>
        read
          .select(columns)
          .from(promptParts)
          .where(
            and(eq(promptParts.conversationId, conversationId), inArray(promptParts.hash, some)),
          ),
      )
      return (await Promise.all(pages)).flat()
    },
  }
}

/** Uses the tables `runRecords`, `promptParts`, `runs` and `conversations`. */
export function createRunRecordRepository(database: Database) {
  const { read, write, tables } = database
  const { runRecords, promptParts, runs, conversations } = tables
  // Built once: building a statement costs several times more than running it.
  const known = prepareLookup('known prompt parts', (read, ids: Placeholder[], name) =>
    read
      .select({
        conversationId: promptParts.conversationId,
        hash: promptParts.hash,
        bytes: byteLength(promptParts.content),
      })
      .from(promptParts)
      .where(inArray(promptParts.conversationId, ids))
      .prepare(name),
  )
  const recordable = prepareLookup('recordable runs', (read, ids: Placeholder[], name) =>
    read
      .select({ id: runs.id })
      .from(runs)
      .innerJoin(conversations, eq(conversations.id, runs.conversationId))
      .where(and(inArray(runs.id, ids), not(conversations.temporary)))
      .prepare(name),
  )
  const countParts = prepareLookup('count prompt parts', (read, ids: Placeholder[], name) =>
    read
      .select({ conversationId: promptParts.conversationId, count: countAll })
      .from(promptParts)
      .where(inArray(promptParts.conversationId, ids))
      .groupBy(promptParts.conversationId)
      .prepare(name),
  )
  const insertParts = prepareInserts<PromptPartRow>(
    'insert prompt parts',
    promptParts,
    (tx, rows, name) =>
      tx
        .insert(promptParts)
        .select(rows)
        .onConflictDoNothing({ target: [promptParts.conversationId, promptParts.hash] })
        .prepare(name),
  )
  const insertRecords = prepareInserts<RunRecordRow>(
    'insert run records',
    runRecords,
    (tx, rows, name) =>
      tx
        .insert(runRecords)
        .select(rows)
        .onConflictDoNothing({ target: [runRecords.runId, runRecords.attempt, runRecords.number] })
        .prepare(name),
  )

  /** Whether each of these conversations has the given number of parts. */
  async function haveParts(
    tx: Writer,
    counts: ReadonlyMap<ConversationId, number>,
  ): Promise<boolean> {
    const rows = await countParts(tx, [...counts.keys()])
    const found = new Map(rows.map(({ conversationId, count }) => [conversationId, count]))
    return [...counts].every(([id, expected]) => (found.get(id) ?? 0) === expected)
  }

  return {
    ...createRunRecordReader({ read, tables }),

    /** The given runs that may be recorded: those that exist, except in temporary conversations. */
    recordable: async (ids: readonly RunId[]): Promise<Set<RunId>> =>
      new Set((await recordable(read, ids)).map(({ id }) => id)),

    /** The hashes of the parts that are stored for conversations, with the bytes of each. */
    knownParts: (ids: readonly ConversationId[]) => known(read, ids),
    /**
     * Stores records of runs that may be recorded, and parts. Existing rows stay unchanged.
     * @param counts how many parts conversations are believed to have. A purge may have removed some of them, and the
     * records may refer to these.
     * @returns false if one of the counts is wrong; nothing is stored then.
     * @throws if one of the conversations has been deleted meanwhile.
     */
    store: (
      records: readonly RunRecordRow[],
      parts: readonly PromptPartRow[],
      counts: ReadonlyMap<ConversationId, number>,
    ): Promise<boolean> =>
      write(async (tx) => {
        await tx.lock(LOCK)
        if (!(await haveParts(tx, counts))) return false
        await inParallel(
          () => insertParts(tx, parts),
          () => insertRecords(tx, records),
        )
        return true
      }),
    removeUnused: (tx: Writer, conversationId: ConversationId) =>
      removeUnused(database, tx, conversationId),
    /** Removes records made before a given time, and the parts that only these referred to, batch by batch. */
    removeBefore: (before: Date) => removeBefore(database, before),
  }
}

/** Removes the parts of a conversation that none of its records refers to. */
async function removeUnused(
  database: Database,
  tx: Writer,
  conversationId: ConversationId,
): Promise<void> {
  const { runRecords, runs, promptParts } = database.tables
  await tx.lock(LOCK)
  const records = await tx
    .select({ record: runRecords.record })
    .from(runRecords)
    .innerJoin(runs, eq(runs.id, runRecords.runId))
    .where(eq(runs.conversationId, conversationId))
  const named = records.map(({ record }) => JSON.stringify(record)).join('\n')
  const parts = await tx
    .select({ hash: promptParts.hash })
    .from(promptParts)
    .where(eq(promptParts.conversationId, conversationId))
  const unused = parts.filter(({ hash }) => !named.includes(hash)).map(({ hash }) => hash)
  for (const hashes of batches(unused))
    await tx
      .delete(promptParts)
      .where(and(eq(promptParts.conversationId, conversationId), inArray(promptParts.hash, hashes)))
}

async function removeBefore(database: Database, before: Date): Promise<void> {
  const { read, write } = database
  const { runRecords, runs } = database.tables
  for (;;) {
    const due = await read
      .select({ runId: runRecords.runId, conversationId: runs.conversationId })
      .from(runRecords)
      .innerJoin(runs, eq(runs.id, runRecords.runId))
      .where(lt(runRecords.createdAt, before))
      .limit(BATCH_SIZE)
    if (due.length === 0) return
    await write(async (tx) => {
      const runIds = [...new Set(due.map(({ runId }) => runId))]
      await tx
        .delete(runRecords)
        .where(and(inArray(runRecords.runId, runIds), lt(runRecords.createdAt, before)))
      for (const id of new Set(due.map(({ conversationId }) => conversationId)))
        await removeUnused(database, tx, id)
    })
  }
}

const batches = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / BATCH_SIZE) }, (_, index) =>
    items.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE),
  )
