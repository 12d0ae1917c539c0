// Packs the search index on PostgreSQL: rows of words become lists of entries, which take a fifth of the space.
import { setImmediate } from 'node:timers/promises'
import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  lt,
  lte,
  notExists,
  notInArray,
  sql,
} from 'drizzle-orm'
import { createTurns } from '../../../lib/turns.ts'
import { UNFINISHED_STATUSES } from '../../../protocol/conversations/message.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import {
  EVERY_ENTRY,
  listIn,
  listsIn,
  unpackEntries,
  wordNumber,
} from '../../packed-words/lists.ts'
import {
  type MergedSegment,
  mergeSegments,
  messageRow,
  packSegment,
  vocabularyOf,
} from '../../packed-words/merge.ts'
import type { VocabularyPage } from '../../packed-words/vocabulary.ts'
import {
  isOwnerWord,
  messageRowOf,
  toSearchEntry,
  withoutEscapes,
  wordsToIndex,
} from '../../search-entries.ts'
import { entryTextOf } from './entry-texts.ts'

/** Segments are packed and merged by one process at a time. */
const LOCK = 'search segments'
const ROWS_AT_ONCE = 100
/** Texts whose words are found at once: about 5 ms. */
const TEXTS_AT_ONCE = 50
/** Finding the numbers of words yields to other work after this time. */
const SLICE_MS = 4
/** Deleted messages that are removed from the lists at once. */
const MAX_REMOVED = 10_000
/** Segments of this many entries are no longer merged. */
const LARGE = 32_768

/** `waiting`: entries that stay rows of words; `batch`: entries packed at once; `together`: segments of a size that are merged. */
export type PackLimits = { waiting: number; batch: number; together: number }
const LIMITS: PackLimits = { waiting: 4_096, batch: 1_024, together: 8 }

type Segment = { id: number; userId: UserId; firstRow: number }

/** The packed part of the index. */
type SegmentIndex = Database & { limits: PackLimits }

/** `limits` say when segments are packed and merged; tests pass smaller ones. */
export function createSegments(database: Database, limits: PackLimits = LIMITS) {
  const { dialect, tables, read, write } = database
  const { searchSegments, searchPages, searchRemoved } = tables
  const index: SegmentIndex = { ...database, limits }

  return {
    /**
     * Stores the words of one segment of an earlier version, so that it is also found by the beginnings of words and the parts
     * of compounds. @returns false when there is none.
     */
    async addVocabulary(): Promise<boolean> {
      if (dialect === 'sqlite') return false
      const segment = await withoutVocabulary(index)
      if (segment === undefined) return false
      const words = await wordsOf(index, await entriesOf(index, segment), segment.userId)
      await write(async (tx) => {
        await tx.lock(LOCK)
        const isThere = eq(searchSegments.id, segment.id)
        const [left] = await tx
          .select({ id: searchSegments.id })
          .from(searchSegments)
          .where(isThere)
        // Merged or completed meanwhile by another process.
        if (left === undefined || (await hasVocabulary(index, tx, segment.id))) return
        const pages = await tx
          .select()
          .from(searchPages)
          .where(eq(searchPages.segmentId, segment.id))
        const numbers = new Set<number>()
        const turn = createTurns()
        for (const page of pages) {
          for (const [word] of listsIn(page)) numbers.add(word)
          await turn()
        }
        await insertVocabulary(index, tx, segment.id, await vocabularyOf(words, numbers))
      })
      return true
    },

    /**
     * Packs some of the oldest entries, or merges some segments. The search finds the same before, during and after.
     * @returns false when there is nothing to do, which is always so on SQLite.
     */
    async packNext(): Promise<boolean> {
      if (dialect === 'sqlite') return false
      const similar = await similarSegments(index)
      if (similar.length === 0) return await packOldest(index)
      await rewrite(index, similar, new Set(await removedRows(index)))
      return true
    },

    /** Removes deleted messages from the lists. Searches stop finding them as soon as they are deleted. */
    async dropRemoved(): Promise<void> {
      if (dialect === 'sqlite') return
      for (;;) {
        const rows = await removedRows(index)
        const [first] = rows
        const last = rows.at(-1)
        if (first === undefined || last === undefined) return
        const removed = new Set(rows)
        const affected = await read
          .select({
            id: searchSegments.id,
            userId: searchSegments.userId,
            firstRow: searchSegments.firstRow,
          })
          .from(searchSegments)
          .where(and(lte(searchSegments.firstRow, last), gte(searchSegments.lastRow, first)))
        for (const segment of affected)
          if (await hasRemoved(index, segment, removed)) await rewrite(index, [segment], removed)
        await write((tx) => tx.delete(searchRemoved).where(inArray(searchRemoved.row, rows)))
        if (rows.length < MAX_REMOVED) return
      }
    },
  }
}

async function insert(
  index: SegmentIndex,
  tx: Writer,
  userId: UserId,
  { pages, vocabulary, ...segment }: MergedSegment,
): Promise<void> {
  const { searchSegments, searchPages } = index.tables
  const [row] = await tx
    .insert(searchSegments)
    .values({ userId, ...segment })
    .returning({ id: searchSegments.id })
  if (row === undefined) return
  for (let from = 0; from < pages.length; from += ROWS_AT_ONCE)
    await tx
      .insert(searchPages)
      .values(
        pages.slice(from, from + ROWS_AT_ONCE).map((page) => ({ segmentId: row.id, ...page })),
      )
  await insertVocabulary(index, tx, row.id, vocabulary)
}

async function insertVocabulary(
  { tables }: SegmentIndex,
  tx: Writer,
  segmentId: number,
  pages: readonly VocabularyPage[],
): Promise<void> {
  const { searchVocabulary } = tables
  for (let from = 0; from < pages.length; from += ROWS_AT_ONCE)
    await tx
      .insert(searchVocabulary)
      .values(pages.slice(from, from + ROWS_AT_ONCE).map((page) => ({ segmentId, ...page })))
}

/** The oldest entries, one list for each word of each user. Texts that are still being written wait. */
async function oldestEntries({
  read,
  limits,
  tables,
}: SegmentIndex): Promise<{ rowids: number[]; users: Map<UserId, Packing> }> {
  const { searchWords, conversations, messages } = tables
  const rows = await read
    .select({
      rowid: searchWords.rowid,
      userId: conversations.userId,
      words: sql<string>`array_to_string(tsvector_to_array(${searchWords.words}), ' ')`,
    })
    .from(searchWords)
    .innerJoin(messages, sql`${messages.row} = ${messageRowOf(sql`${searchWords.rowid}`)}`)
    .innerJoin(conversations, eq(conversations.id, messages.conversationId))
    .where(and(gt(searchWords.rowid, 0), notInArray(messages.status, [...UNFINISHED_STATUSES])))
    .orderBy(asc(searchWords.rowid))
    .limit(limits.batch)
  const users = new Map<UserId, Packing>()
  let since = performance.now()
  for (const { rowid, userId, words } of rows) {
    const packing: Packing = users.get(userId) ?? { lists: new Map(), words: new Set() }
    users.set(userId, packing)
    add(packing.lists, EVERY_ENTRY, rowid)
    for (const word of words.split(' ')) {
      if (isOwnerWord(word)) continue
      add(packing.lists, wordNumber(word), rowid)
      packing.words.add(word)
    }
    if (performance.now() - since < SLICE_MS) continue
    await setImmediate()
    since = performance.now()
  }
  return { rowids: rows.map(({ rowid }) => rowid), users }
}

async function packOldest(index: SegmentIndex): Promise<boolean> {
  const { read, limits, write } = index
  const { searchWords, searchRemoved } = index.tables
  const [excess] = await read
    .select({ rowid: searchWords.rowid })
    .from(searchWords)
    .where(gt(searchWords.rowid, 0))
    .orderBy(asc(searchWords.rowid))
    .limit(1)
    .offset(limits.waiting)
  if (excess === undefined) return false
  const { rowids, users } = await oldestEntries(index)
  if (rowids.length === 0) return false
  const packed: [UserId, MergedSegment][] = []
  for (const [userId, { lists, words }] of users) {
    const segment = await packSegment(
      [...lists].sort(([a], [b]) => a - b),
      words,
    )
    if (segment !== null) packed.push([userId, segment])
  }
  return await write(async (tx) => {
    await tx.lock(LOCK)
    const mine = inArray(searchWords.rowid, rowids)
    const [left] = await tx.select({ entries: count() }).from(searchWords).where(mine)
    // Some were deleted, or another process has packed them: the next call reads them again.
    if (left?.entries !== rowids.length) return true
    const deleted = await tx.delete(searchWords).where(mine).returning({ id: searchWords.rowid })
    for (const [userId, segment] of packed) await insert(index, tx, userId, segment)
    // Their messages were deleted between these two statements.
    const kept = new Set(deleted.map(({ id }) => id))
    const gone = new Set(rowids.filter((rowid) => !kept.has(rowid)).map(messageRow))
    if (gone.size > 0)
      await tx
        .insert(searchRemoved)
        .values([...gone].map((row) => ({ row })))
        .onConflictDoNothing()
    return true
  })
}

/** Up to `together` segments of about the same size, of a user who has that many. */
async function similarSegments({ limits, read, tables }: SegmentIndex): Promise<Segment[]> {
  const { searchSegments } = tables
  const size = sql`floor(log(${sql.raw(String(limits.together))}, ${searchSegments.entries}))`
  const [group] = await read
    .select({ userId: searchSegments.userId, size: size.mapWith(Number).as('size') })
    .from(searchSegments)
    .where(lt(searchSegments.entries, LARGE))
    .groupBy(searchSegments.userId, size)
    .having(gte(count(), limits.together))
    .limit(1)
  if (group === undefined) return []
  return await read
    .select({
      id: searchSegments.id,
      userId: searchSegments.userId,
      firstRow: searchSegments.firstRow,
    })
    .from(searchSegments)
    .where(
      and(
        eq(searchSegments.userId, group.userId),
        lt(searchSegments.entries, LARGE),
        eq(size, group.size),
      ),
    )
    .orderBy(asc(searchSegments.firstRow))
    .limit(limits.together)
}

/** Writes segments again as one, without the entries of deleted messages. */
const rewrite = (
  index: SegmentIndex,
  segments: readonly Segment[],
  removed: ReadonlySet<number>,
): Promise<void> => {
  const { write } = index
  const { searchPages, searchVocabulary, searchSegments } = index.tables
  return write(async (tx) => {
    await tx.lock(LOCK)
    const ids = segments.map(({ id }) => id)
    const pages = await tx
      .select()
      .from(searchPages)
      .where(inArray(searchPages.segmentId, ids))
      .orderBy(asc(searchPages.segmentId), asc(searchPages.first))
    const words = await tx
      .select()
      .from(searchVocabulary)
      .where(inArray(searchVocabulary.segmentId, ids))
    const gone = await tx
      .delete(searchSegments)
      .where(inArray(searchSegments.id, ids))
      .returning({ id: searchSegments.id })
    if (gone.length < segments.length) throw new Error('Another process has merged segments.')
    const sources = segments.map(({ id, firstRow }) => ({
      firstRow,
      pages: pages.filter(({ segmentId }) => segmentId === id),
      vocabulary: words.filter(({ segmentId }) => segmentId === id),
    }))
    const merged = await mergeSegments(sources, (rowid) => !removed.has(messageRow(rowid)))
    const [owner] = segments
    if (merged !== null && owner !== undefined) await insert(index, tx, owner.userId, merged)
  })
}

const removedRows = async ({ read, tables }: SegmentIndex): Promise<number[]> => {
  const { searchRemoved } = tables
  return (
    await read
      .select({ row: searchRemoved.row })
      .from(searchRemoved)
      .orderBy(asc(searchRemoved.row))
      .limit(MAX_REMOVED)
  ).map(({ row }) => row)
}

async function entriesOf(
  { read, tables }: SegmentIndex,
  { id, firstRow }: Pick<Segment, 'id' | 'firstRow'>,
): Promise<number[]> {
  const { searchPages } = tables
  const [page] = await read
    .select()
    .from(searchPages)
    .where(and(eq(searchPages.segmentId, id), eq(searchPages.first, EVERY_ENTRY)))
  const every = page === undefined ? undefined : listIn(page, EVERY_ENTRY)
  return every === undefined ? [] : unpackEntries(every, firstRow)
}

const hasRemoved = async (
  index: SegmentIndex,
  segment: Segment,
  removed: Set<number>,
): Promise<boolean> =>
  (await entriesOf(index, segment)).some((rowid) => removed.has(messageRow(rowid)))

/** A segment of an earlier version, which did not store the words. */
async function withoutVocabulary({ read, tables }: SegmentIndex): Promise<Segment | undefined> {
  const { searchSegments, searchVocabulary } = tables
  const [segment] = await read
    .select({
      id: searchSegments.id,
      userId: searchSegments.userId,
      firstRow: searchSegments.firstRow,
    })
    .from(searchSegments)
    .where(
      notExists(
        read
          .select({ one: sql`1` })
          .from(searchVocabulary)
          .where(eq(searchVocabulary.segmentId, searchSegments.id)),
      ),
    )
    .orderBy(desc(searchSegments.lastRow))
    .limit(1)
  return segment
}

function textsOf({ tables, readOffThread }: SegmentIndex, rowids: readonly number[]) {
  const { searchWords, messages, steps, attachments, files } = tables
  const entry = entryTextOf(tables)
  return readOffThread
    .select({ rowid: sql`${searchWords.rowid}`.mapWith(Number), text: entry.text })
    .from(
      sql`(select unnest(cast(${sql.param([...rowids])} as bigint[])) as rowid) as search_words`,
    )
    .innerJoin(messages, sql`${messages.row} = ${messageRowOf(sql`${searchWords.rowid}`)}`)
    .leftJoin(steps, entry.ofStep)
    .leftJoin(attachments, entry.ofAttachment)
    .leftJoin(files, eq(files.id, attachments.fileId))
}

/** The words of the texts of entries, as they are indexed now. */
async function wordsOf(
  index: SegmentIndex,
  rowids: readonly number[],
  userId: UserId,
): Promise<Set<string>> {
  const words = new Set<string>()
  for (let from = 0; from < rowids.length; from += TEXTS_AT_ONCE)
    for (const { rowid, text } of await textsOf(index, rowids.slice(from, from + TEXTS_AT_ONCE))) {
      const isTool = toSearchEntry(rowid).kind === 'tool'
      for (const word of wordsToIndex(userId, isTool ? withoutEscapes(text) : text)) words.add(word)
      await setImmediate()
    }
  return words
}

async function hasVocabulary(
  { tables }: SegmentIndex,
  tx: Writer,
  segmentId: number,
): Promise<boolean> {
  const { searchVocabulary } = tables
  const found = await tx
    .select({ segmentId: searchVocabulary.segmentId })
    .from(searchVocabulary)
    .where(eq(searchVocabulary.segmentId, segmentId))
    .limit(1)
  return found.length > 0
}

type WordLists = Map<number, number[]>
/** The words of a user's entries and their lists. */
type Packing = { lists: WordLists; words: Set<string> }

function add(lists: WordLists, word: number, rowid: number): void {
  const list = lists.get(word)
  if (list === undefined) lists.set(word, [rowid])
  else if (list.at(-1) !== rowid) list.push(rowid)
}
