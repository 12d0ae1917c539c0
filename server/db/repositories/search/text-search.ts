// Finds titles, messages, tool calls, attachments and documents of a user by the words that they contain.
import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, lte, sql } from 'drizzle-orm'
import type { MessageId, ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import {
  matchPassageWords,
  matchWords,
  partOf,
  passageWordsToMatch,
  textBefore,
  toSearchEntry,
  wordsToMatch,
} from '../../search-entries.ts'
import { attachmentText } from '../conversations/attachments.ts'
import { createMembership } from '../projects/membership.ts'
import { fileTextOf } from './entry-texts.ts'
import {
  createSearchIndex,
  entryOfStep,
  type Indexing,
  LACKING,
  READ_CHARACTERS,
} from './index-writer.ts'
import { createMessageSearch } from './message-search.ts'
import { createPassageWords } from './passage-words.ts'
import { createSegments } from './segments.ts'
import {
  BEFORE,
  type FoundText,
  isFoundConversation,
  LIMIT,
  plainOnce,
  type SearchFilter,
  type Stretch,
  USER,
  WORDS,
} from './statements.ts'

// Indexes texts that are already stored: those without an index, and those whose index lacks words.

/** Every method runs in the caller's transaction. */
function createStoredTexts(
  database: Pick<Database, 'tables'>,
  index: ReturnType<typeof createSearchIndex>,
) {
  return {
    ...storedMessages(database, index),
    ...storedTitles(database, index),
  }
}

/** Messages. */
function storedMessages(
  { tables }: Pick<Database, 'tables'>,
  index: ReturnType<typeof createSearchIndex>,
) {
  const { conversations, messages, steps } = tables
  return {
    /**
     * Indexes the newest stored messages up to a row, at most `limit` of them, steps and attachments included. Returns the
     * row that the next call continues from; 0 when nothing is left.
     */
    async indexMessages(
      tx: Writer,
      upTo: number,
      limit: number,
      indexing: Indexing = 'missing',
    ): Promise<number> {
      const found = await tx
        .select({
          row: messages.row,
          id: messages.id,
          role: messages.role,
          text: messages.text,
          userId: conversations.userId,
        })
        .from(messages)
        .innerJoin(conversations, eq(conversations.id, messages.conversationId))
        .where(lte(messages.row, upTo))
        .orderBy(desc(messages.row))
        .limit(limit)
      const ids = found.map(({ id }) => id)
      const stepsFound =
        ids.length === 0
          ? []
          : await tx
              .select({
                messageId: steps.messageId,
                position: steps.position,
                type: steps.type,
                name: steps.name,
                content: sql<string>`substr(${steps.content}, 1, ${sql.raw(String(READ_CHARACTERS))})`,
              })
              .from(steps)
              .where(and(inArray(steps.messageId, ids), eq(steps.closed, true)))
      for (const message of found) {
        const messageSteps = stepsFound.filter(({ messageId }) => messageId === message.id)
        // The text of an answer repeats its text steps, so it is indexed only if there are none.
        const hasText = message.role === 'user' || messageSteps.every(({ type }) => type !== 'text')
        if (hasText) await index.indexText(tx, message, 'text', 0, message.text, indexing)
        for (const step of messageSteps) {
          const entry = entryOfStep(step)
          if (entry !== null)
            await index.indexText(tx, message, entry.kind, step.position, entry.text, indexing)
        }
        await index.indexFiles(tx, message, message.id, indexing)
      }
      const last = found.at(-1)
      return found.length < limit || last === undefined ? 0 : last.row - 1
    },
  }
}

/** Titles. */
function storedTitles(
  { tables }: Pick<Database, 'tables'>,
  index: ReturnType<typeof createSearchIndex>,
) {
  const { searchTitles, conversations } = tables
  return {
    /** Indexes the titles of some conversations that are not in the index. Returns their number. */
    async indexTitles(tx: Writer, limit: number): Promise<number> {
      const found = await tx
        .select({
          id: conversations.id,
          userId: conversations.userId,
          title: conversations.title,
        })
        .from(conversations)
        .leftJoin(searchTitles, eq(searchTitles.conversationId, conversations.id))
        .where(and(isNull(searchTitles.id), eq(conversations.titled, true)))
        .limit(limit)
      for (const conversation of found) await index.indexTitle(tx, conversation)
      return found.length
    },

    /**
     * Indexes some titles again, after the title with the number `after`. Returns the number of the last one; null when
     * nothing is left.
     */
    async reindexTitles(
      tx: Writer,
      after: number,
      limit: number,
      indexing: keyof typeof LACKING,
    ): Promise<number | null> {
      const found = await tx
        .select({
          number: searchTitles.id,
          id: conversations.id,
          userId: conversations.userId,
          title: conversations.title,
        })
        .from(searchTitles)
        .innerJoin(conversations, eq(conversations.id, searchTitles.conversationId))
        .where(gt(searchTitles.id, after))
        .orderBy(asc(searchTitles.id))
        .limit(limit)
      for (const title of found)
        if (LACKING[indexing](title.title)) await index.indexTitle(tx, title)
      return found.at(-1)?.number ?? null
    },
  }
}

// Finds passages of documents by the words that they contain.

/** In more projects, a search visits the passages of all: naming them costs more. */
const MAX_NAMED_PROJECTS = 64

type PassageFilter = Omit<SearchFilter, 'conversationId' | 'tags' | 'characters'>

/** Passages of documents of the user's projects that meet the filter, newest first. */
function createPassageSearch(
  database: Database,
): (userId: UserId, filter: PassageFilter, stretch: Stretch) => Promise<FoundText[]> {
  const {
    dialect,
    read,
    readOffThread,
    tables: { documents, passages, projects },
  } = database
  const { isAmongThoseOf, isMember } = createMembership(database)
  const isSqlite = dialect === 'sqlite'
  // On SQLite the order is that of the index, so that reading stops at the limit.
  const id = isSqlite ? sql`passages_index.rowid` : sql`${passages.id}`
  const source = isSqlite ? sql`passages_index` : sql`(select 1) as one`
  const build = ({ projectIds, from, to }: PassageFilter) =>
    readOffThread
      .select({
        rowid: passages.id,
        documentId: documents.id,
        title: documents.name,
        projectId: documents.projectId,
        createdAt: documents.createdAt,
        position: passages.position,
        page: passages.page,
        heading: passages.heading,
        text: passages.text,
      })
      .from(source)
      .innerJoin(passages, isSqlite ? sql`${passages.id} = passages_index.rowid` : sql`true`)
      .innerJoin(documents, eq(documents.id, passages.documentId))
      .innerJoin(projects, eq(projects.id, documents.projectId))
      .where(
        and(
          matchPassageWords(dialect, WORDS),
          isMember(sql`${USER}`),
          eq(projects.scratch, false),
          eq(documents.status, 'ready'),
          sql`${id} < ${BEFORE}`,
          projectIds && inArray(documents.projectId, [...projectIds]),
          from && gte(documents.createdAt, from),
          to && lt(documents.createdAt, to),
        ),
      )
      .orderBy(desc(id))
      .limit(LIMIT)
      .prepare('')
  const statementOf = plainOnce(build)
  async function projectsOf(userId: UserId): Promise<ProjectId[]> {
    const own = await read
      .select({ id: projects.id })
      .from(projects)
      .where(and(isAmongThoseOf(userId), eq(projects.scratch, false)))
      .limit(MAX_NAMED_PROJECTS + 1)
    return own.map(({ id }) => id)
  }
  return async (userId, filter, { before, limit }) => {
    // Without words, every passage would match.
    if (filter.needed === 0) return []
    const projectIds = filter.projectIds ?? (await projectsOf(userId))
    if (projectIds.length === 0) return []
    const named = projectIds.length > MAX_NAMED_PROJECTS ? [] : projectIds
    const rows = await statementOf(filter).execute({
      words: passageWordsToMatch(dialect, filter, named),
      userId,
      before: before ?? Number.MAX_SAFE_INTEGER,
      limit,
    })
    return rows.map(({ documentId, position, page, heading, text, ...found }) => ({
      ...found,
      conversationId: null,
      // The name of the document is indexed with its first passage.
      text: [position === 0 ? found.title : null, heading, text]
        .filter((piece) => piece !== null)
        .join('\n'),
      document: { id: documentId, position, page },
    }))
  }
}

// Indexes attachments that are too long to be indexed whole with their message, one part at a time.

function createFileParts(
  { read, readOffThread, write, tables }: Database,
  index: ReturnType<typeof createSearchIndex>,
): () => Promise<boolean> {
  const { attachments, messages, conversations, files } = tables
  /** @returns false when there is nothing left. The text is read off the event loop, which a long one would block. */
  return async () => {
    // Uses an index. The off-thread reader starts only for a text: its thread takes 20 MB and stays for a minute.
    const [waiting] = await read
      .select({ messageId: attachments.messageId, position: attachments.position })
      .from(attachments)
      .where(sql`${attachments.searchFrom} is not null`)
      .limit(1)
    if (waiting === undefined) return false
    const { messageId, position } = waiting
    const [next] = await readOffThread
      .select({
        messageId: attachments.messageId,
        position: attachments.position,
        part: sql`${attachments.searchFrom}`.mapWith(Number),
        row: messages.row,
        userId: conversations.userId,
        text: partOf(fileTextOf(tables), sql`${attachments.searchFrom}`),
      })
      .from(attachments)
      .innerJoin(messages, eq(messages.id, attachments.messageId))
      .innerJoin(conversations, eq(conversations.id, messages.conversationId))
      .leftJoin(files, eq(files.id, attachments.fileId))
      .where(
        and(
          eq(attachments.messageId, messageId),
          eq(attachments.position, position),
          sql`${attachments.searchFrom} is not null`,
        ),
      )
    // The attachment was deleted meanwhile.
    if (next === undefined) return true
    await write((tx) => index.indexFilePart(tx, next))
    return true
  }
}

// Finds titles of conversations by the words that they contain.

/** Titles of the user's conversations that meet the filter, newest first. Their row ids count down. */
function createTitleSearch(
  database: Database,
): (userId: UserId, filter: SearchFilter, stretch: Stretch) => Promise<FoundText[]> {
  const { dialect, readOffThread, tables } = database
  const { searchTitles, searchWords, conversations } = tables
  const build = (filter: SearchFilter) =>
    readOffThread
      .select({
        rowid: searchWords.rowid,
        conversationId: conversations.id,
        title: conversations.title,
        projectId: conversations.projectId,
        createdAt: conversations.createdAt,
      })
      .from(searchWords)
      .crossJoin(searchTitles)
      .crossJoin(conversations)
      .where(
        and(
          matchWords(dialect, WORDS),
          sql`${searchWords.rowid} > ${BEFORE}`,
          sql`${searchWords.rowid} < 0`,
          sql`${searchTitles.id} = -${searchWords.rowid}`,
          eq(conversations.id, searchTitles.conversationId),
          isFoundConversation(database, filter),
          filter.from && gte(conversations.createdAt, filter.from),
          filter.to && lt(conversations.createdAt, filter.to),
        ),
      )
      .orderBy(asc(searchWords.rowid))
      .limit(LIMIT)
      .prepare('')
  const statementOf = plainOnce(build)
  return async (userId, filter, { before, limit }) => {
    const rows = await statementOf(filter).execute({
      words: wordsToMatch(dialect, userId, filter),
      userId,
      before: before ?? Number.MIN_SAFE_INTEGER,
      limit,
    })
    return rows.map((row) => ({ ...row, text: row.title }))
  }
}

/** Uses the tables `messages`, `attachments` and `files`. */
export function createSearchRepository(database: Database) {
  const { readOffThread, tables } = database
  const { messages, attachments, files } = tables
  const index = createSearchIndex(database)
  return {
    titles: createTitleSearch(database),
    messages: createMessageSearch(database),
    passages: createPassageSearch(database),
    passageWords: createPassageWords(database),

    /** The text of an attachment before an entry's part of it. */
    async textBefore(messageId: MessageId, entry: number): Promise<string> {
      const { position, part } = toSearchEntry(entry)
      const [row] = await readOffThread
        .select({ text: textBefore(attachmentText(tables), part) })
        .from(attachments)
        .leftJoin(files, eq(files.id, attachments.fileId))
        .where(and(eq(attachments.messageId, messageId), eq(attachments.position, position)))
      return row?.text ?? ''
    },

    /** The row of the newest message, from which `stored.indexMessages` begins; 0 without messages. */
    async newestRow(): Promise<number> {
      const [newest] = await database.read
        .select({ row: messages.row })
        .from(messages)
        .orderBy(desc(messages.row))
        .limit(1)
      return newest?.row ?? 0
    },

    indexNextPart: createFileParts(database, index),

    index,

    stored: createStoredTexts(database, index),

    segments: createSegments(database),
  }
}
