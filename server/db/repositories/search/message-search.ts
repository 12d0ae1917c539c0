// Finds messages, tool calls and attachments by the words that they contain.
import { and, desc, eq, exists, gte, isNull, lt, max, type SQL, sql } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import { stepId } from '../../../protocol/runs/step.ts'
import type { Database } from '../../database.ts'
import {
  ENTRIES_PER_MESSAGE,
  matchWords,
  messageRowOf,
  SEARCH_KINDS,
  toSearchEntry,
  withoutEscapes,
  wordsToMatch,
} from '../../search-entries.ts'
import { isAttached } from '../conversations/message-tree.ts'
import { entryTextOf, isKindOf } from './entry-texts.ts'
import { createPackedMatches } from './message-search/packed-matches.ts'
import {
  BEFORE,
  type FoundText,
  isFoundConversation,
  isPlain,
  LIMIT,
  type MessageFilter,
  plainOnce,
  type Stretch,
  WORDS,
} from './statements.ts'

/** The newest messages, among which frequent words are found without reading older ones. */
const RECENT_MESSAGES = 30_000
/** Maximum packed entries whose messages one statement looks up. */
const MAX_LOOKED_UP = 20_000
/** Rows of words are read for this many stretches at once when the first stretch was not enough. */
const STRETCHES_AHEAD = 3

/**
 * Texts of messages that meet the filter, newest first. The function for one search reads stretches, each of which begins where the
 * one before it ended.
 */
export function createMessageSearch(
  database: Database,
): (userId: UserId, filter: MessageFilter) => (stretch: Stretch) => Promise<FoundText[]> {
  const { dialect, readOffThread, tables } = database
  const { searchWords, conversations, messages, steps, attachments, files } = tables
  const rowid = sql`${searchWords.rowid}`
  const entry = entryTextOf(tables)
  const isMatch = and(matchWords(dialect, WORDS), sql`${rowid} < ${BEFORE}`, sql`${rowid} > 0`)
  /**
   * If PostgreSQL estimated the words to be frequent, it would read entries from the newest on, and all of them if it was
   * wrong. It cannot read a sum in order, so it uses the index of words.
   */
  const newestFirst = dialect === 'sqlite' ? desc(rowid) : sql`${rowid} + 0 desc`
  const entriesBy = (order: SQL, condition?: SQL): SQL =>
    sql`(select rowid, count(*) over () as entries from (
      select ${rowid} from ${searchWords} where ${and(isMatch, condition)} order by ${order} limit ${LIMIT}
    ) as newest) as search_words`
  /**
   * The newest entries with the words, under the name of the table, and their number. Otherwise PostgreSQL would look up
   * the messages of all matches before it takes the newest. SQLite reads in the right order and stops at the limit.
   */
  const sources = {
    /** The entries among the newest messages: if the words are frequent, nothing else is read. */
    recent: entriesBy(desc(rowid), sql`${rowid} > ${sql.placeholder('after')}`),
    newest: entriesBy(newestFirst),
    all: searchWords,
    /** Entries that were found in the packed part of the index. */
    packed: sql`(select unnest(cast(${sql.placeholder('entries')} as bigint[])) as rowid) as search_words`,
  }

  const build = (filter: MessageFilter, from: keyof typeof sources) =>
    readOffThread
      .select({
        rowid: rowid.mapWith(searchWords.rowid),
        messageId: messages.id,
        role: messages.role,
        createdAt: messages.createdAt,
        conversationId: conversations.id,
        title: conversations.title,
        projectId: conversations.projectId,
        fileId: attachments.fileId,
        fileName: attachments.name,
        pages: files.pages,
        text: entry.text,
        entries:
          sql`${sql.raw(from === 'all' || from === 'packed' ? '0' : 'search_words.entries')}`.mapWith(
            Number,
          ),
      })
      .from(sources[from])
      .innerJoin(messages, sql`${messages.row} = ${messageRowOf(rowid)}`)
      .innerJoin(conversations, eq(conversations.id, messages.conversationId))
      .leftJoin(steps, entry.ofStep)
      .leftJoin(attachments, entry.ofAttachment)
      .leftJoin(files, eq(files.id, attachments.fileId))
      .where(
        and(
          from === 'all' ? isMatch : undefined,
          isFoundConversation(database, filter),
          isNull(messages.deletedAt),
          isAttached(messages),
          filter.kinds.length === SEARCH_KINDS.length
            ? undefined
            : isKindOf(tables, ...filter.kinds),
          filter.isMine ? eq(messages.role, 'user') : undefined,
          filter.from && gte(messages.createdAt, filter.from),
          filter.to && lt(messages.createdAt, filter.to),
          filter.hasFile
            ? exists(
                readOffThread
                  .select({ one: sql`1` })
                  .from(attachments)
                  .where(sql`${attachments.messageId} = ${messages.id}`),
              )
            : undefined,
        ),
      )
      .orderBy(isPlain(filter) ? newestFirst : desc(rowid))
      .limit(LIMIT)
      .prepare('')

  const statements = {
    recent: plainOnce((filter: MessageFilter) => build(filter, 'recent')),
    newest: plainOnce((filter: MessageFilter) => build(filter, 'newest')),
    all: plainOnce((filter: MessageFilter) => build(filter, 'all')),
    packed: plainOnce((filter: MessageFilter) => build(filter, 'packed')),
  }
  const newestEntry = readOffThread
    .select({ rowid: max(searchWords.rowid) })
    .from(searchWords)
    .prepare('')

  /** Finds frequent words among the newest messages: until the index is packed, they would match most of it. */
  async function recentRows(
    filter: MessageFilter,
    values: { words: string; userId: UserId; before: number; limit: number },
    before: number | null,
  ) {
    const newest = before ?? (await newestEntry.execute())[0]?.rowid ?? 0
    const after = Math.max(0, newest - RECENT_MESSAGES * ENTRIES_PER_MESSAGE)
    return await statements.recent(filter).execute({ ...values, after })
  }

  async function unpackedRows(userId: UserId, filter: MessageFilter, { before, limit }: Stretch) {
    const values = {
      words: wordsToMatch(dialect, userId, filter),
      userId,
      before: before ?? Number.MAX_SAFE_INTEGER,
      limit,
    }
    if (dialect === 'postgres' && isPlain(filter)) {
      if (!isPacked) {
        const recent = await recentRows(filter, values, before)
        if (recent.length === limit) return recent
      }
      const rows = await statements.newest(filter).execute(values)
      // If there were more entries and some of them cannot be shown, older ones may be shown instead.
      const entries = rows[0]?.entries ?? limit
      if (rows.length === limit || entries < limit) return rows
    }
    return await statements.all(filter).execute(values)
  }

  const packedMatches = createPackedMatches(database)
  /** Whether entries were found in lists: then most of the index is packed, and few rows of words are left. */
  let isPacked = false

  type Row = Awaited<ReturnType<typeof unpackedRows>>[number]

  /** Looks up entries found in the lists, as many as requested; found entries that were not looked up are kept. */
  function createPackedRows(userId: UserId, filter: MessageFilter, before: number, after: number) {
    const statement = statements.packed(filter)
    const matches = packedMatches(userId, filter, before, after)
    let waiting: number[] = []
    let isEnd = false
    // Finds at most one segment's entries more than requested, which bounds the memory of a search.
    const fill = async (size: number): Promise<void> => {
      while (waiting.length < size && !isEnd) {
        const { value } = await matches.next()
        if (value === undefined) isEnd = true
        else waiting = waiting.concat(value)
      }
    }
    /** The next rows, newest first; fewer than `limit` at the end. */
    return async (limit: number): Promise<Row[]> => {
      const rows: Row[] = []
      // Most entries with the words are shown, unless a filter excludes them.
      for (let size = limit; rows.length < limit; size = Math.min(size * 10, MAX_LOOKED_UP)) {
        await fill(size)
        if (waiting.length === 0) break
        isPacked = true
        const entries = waiting.slice(0, size)
        const wanted = limit - rows.length
        const found = await statement.execute({ userId, entries, limit: wanted })
        rows.push(...found)
        // The statement did not examine anything older than its last row.
        const last = found.length === wanted ? found.at(-1)?.rowid : entries.at(-1)
        waiting = waiting.slice(last === undefined ? entries.length : entries.indexOf(last) + 1)
      }
      return rows
    }
  }

  /**
   * What is left of both parts of the index before `before`: `limit` rows of words, and the entries of lists that are newer
   * than the last of these, so that a reader never misses an entry that is packed between two stretches.
   */
  async function createSpan(userId: UserId, filter: MessageFilter, { before, limit }: Stretch) {
    let unpacked = await unpackedRows(userId, filter, { before, limit })
    const after = unpacked.length === limit ? (unpacked.at(-1)?.rowid ?? 0) : 0
    const next = createPackedRows(userId, filter, before ?? Number.MAX_SAFE_INTEGER, after)
    let packed: Row[] = []
    let isRead = false
    return {
      /** The newest rows of a stretch that begins where the one before ended; null when they are not all in this span. */
      async read(stretch: Stretch): Promise<Row[] | null> {
        const isLeft = ({ rowid }: Row): boolean => rowid < (stretch.before ?? rowid + 1)
        unpacked = unpacked.filter(isLeft)
        packed = packed.filter(isLeft)
        const missing = stretch.limit - packed.length
        if (missing > 0 && !isRead) {
          const more = await next(missing)
          isRead = more.length < missing
          packed.push(...more)
        }
        const rows = new Map([...packed, ...unpacked].map((row) => [row.rowid, row]))
        if (rows.size < stretch.limit && after > 0) return null
        return [...rows.values()].sort((a, b) => b.rowid - a.rowid).slice(0, stretch.limit)
      },
    }
  }

  /** The newest rows of both parts of the index. Rows that a stretch did not use are kept for the next one. */
  function createRows(userId: UserId, filter: MessageFilter): (stretch: Stretch) => Promise<Row[]> {
    if (dialect === 'sqlite') return (stretch) => unpackedRows(userId, filter, stretch)
    let span: Awaited<ReturnType<typeof createSpan>> | undefined
    return async (stretch) => {
      const rows = await span?.read(stretch)
      if (rows) return rows
      // A reader of a second stretch is likely to read more of them.
      const limit = span === undefined ? stretch.limit : stretch.limit * STRETCHES_AHEAD
      span = await createSpan(userId, filter, { ...stretch, limit })
      return (await span.read(stretch)) ?? []
    }
  }

  return (userId, filter) => {
    const rows = createRows(userId, filter)
    return async (stretch) =>
      (await rows(stretch)).map(
        ({ messageId, role, fileId, fileName, pages, rowid: entry, text, ...found }) => {
          const { kind, position } = toSearchEntry(entry)
          const isStep = kind === 'step' || kind === 'tool'
          return {
            rowid: entry,
            conversationId: found.conversationId,
            title: found.title,
            projectId: found.projectId,
            createdAt: found.createdAt,
            text: kind === 'tool' ? withoutEscapes(text) : text,
            message: {
              id: messageId,
              role,
              kind,
              stepId: isStep ? stepId(position) : undefined,
              fileId: fileId ?? undefined,
              fileName: fileName ?? undefined,
              hasPages: pages !== null,
            },
          }
        },
      )
  }
}
