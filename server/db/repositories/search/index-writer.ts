// Writes the search index: each text with its words, in the transaction that stores the text.
import { and, between, eq, type SQL, sql } from 'drizzle-orm'
import { hasFurtherWords, hasSpaceless } from '../../../lib/words.ts'
import type { ConversationId, FileId, MessageId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'
import {
  ENTRIES_PER_MESSAGE,
  filePositionOf,
  hasMoreParts,
  indexedValue,
  LAST_POSITION,
  MAX_PARTS,
  partAfter,
  partsOf,
  rowidRange,
  type SearchKind,
  toIndexedWords,
  toRowid,
  withoutEscapes,
} from '../../search-entries.ts'
import { attachmentText } from '../conversations/attachments.ts'

type Owner = { row: number; userId: UserId }
/** Which texts to index: those that are `missing`, or again those with `characters` or `words` that older indexes lack. */
export type Indexing = 'missing' | 'characters' | 'words'
/** Whether an older index may lack something of a text. */
export const LACKING: Record<Exclude<Indexing, 'missing'>, (text: string) => boolean> = {
  characters: hasSpaceless,
  words: hasFurtherWords,
}
type IndexedStep = Pick<
  Database['tables']['steps']['$inferSelect'],
  'position' | 'type' | 'content'
> & { name?: string | null | undefined }

/** Characters of an attachment or step that are read for indexing. */
export const READ_CHARACTERS = 240_000

/** The kind of entry of each step; null for steps that are not searched. */
const KIND_OF_STEP: Record<IndexedStep['type'], SearchKind | null> = {
  thinking: null,
  text: 'step',
  tool_call: 'tool',
  tool_result: 'tool',
}

const stepText = (kind: SearchKind, { name, content }: IndexedStep): string =>
  kind === 'tool' ? `${name ?? ''} ${withoutEscapes(content)}` : content

/** The part of a step that is indexed; null for steps that are not searched. */
export function entryOfStep(step: IndexedStep): { kind: SearchKind; text: string } | null {
  const kind = KIND_OF_STEP[step.type]
  return kind === null ? null : { kind, text: stepText(kind, step) }
}

/**
 * Every method runs in the caller's transaction. Texts of messages, steps and attachments do not change once they are
 * complete (`indexChangedFile` is for the exception), so one that is indexed already is left alone.
 */
export function createSearchIndex(database: Pick<Database, 'dialect' | 'tables'>) {
  const parts = indexStatements(database)
  return {
    ...indexMessages(database, parts),
    ...indexAttached(database, parts),
    ...indexTitles(database, parts),
  }
}

/** The statements that write and remove entries of the index. */
function indexStatements({ dialect, tables }: Pick<Database, 'dialect' | 'tables'>) {
  const { searchWords } = tables
  const words = indexedValue(dialect, sql.placeholder('words'))
  const isIndexed = (rowid: SQL) =>
    sql`exists (select 1 from ${searchWords} where ${searchWords.rowid} = ${rowid})`
  const entry = sql`cast(${sql.placeholder('entry')} as bigint)`
  const entryStatement = prepareOnEach((tx) =>
    tx
      .insert(searchWords)
      .select(sql`select ${entry}, ${words} where not ${isIndexed(entry)}`)
      .prepare('index text'),
  )

  async function indexText(
    tx: Writer,
    { row, userId }: Owner,
    kind: SearchKind,
    position: number,
    text: string,
    indexing: Indexing = 'missing',
  ): Promise<void> {
    const range = rowidRange({ messageRow: row, kind, position })
    if (range === null || text.trim() === '') return
    if (indexing !== 'missing' && !LACKING[indexing](text)) return
    for (const [part, piece] of partsOf(text).entries()) {
      if (indexing !== 'missing') await remove(tx, range[0] + part)
      await entryStatement(tx).execute({
        entry: range[0] + part,
        words: toIndexedWords(dialect, userId, piece),
      })
    }
  }

  const remove = (tx: Writer, entry: number) =>
    tx.delete(searchWords).where(eq(searchWords.rowid, entry))

  return { words, isIndexed, entry, entryStatement, indexText, remove }
}

type IndexStatements = ReturnType<typeof indexStatements>

/** Texts of messages and their steps. */
function indexMessages(
  { dialect, tables }: Pick<Database, 'dialect' | 'tables'>,
  { words, isIndexed, entry, indexText }: IndexStatements,
) {
  const { searchWords, messages } = tables
  // The row of its message is looked up in the same statement: every send runs it for the question and the answer.
  const stepEntry = sql`${messages.row} * ${sql.raw(String(ENTRIES_PER_MESSAGE))} + ${entry}`
  const entryOfMessageStatement = prepareOnEach((tx) =>
    tx
      .insert(searchWords)
      .select(
        sql`select ${stepEntry}, ${words} from ${messages}
          where ${messages.id} = ${sql.placeholder('messageId')} and not ${isIndexed(stepEntry)}`,
      )
      .prepare('index text of message'),
  )

  /** Indexes a text of a message whose row is unknown. */
  async function indexOfMessage(
    tx: Writer,
    { messageId, userId }: { messageId: MessageId; userId: UserId },
    kind: SearchKind,
    position: number,
    text: string,
  ): Promise<void> {
    const range = rowidRange({ messageRow: 0, kind, position })
    if (range === null || text.trim() === '') return
    for (const [part, piece] of partsOf(text).entries())
      await entryOfMessageStatement(tx).execute({
        entry: range[0] + part,
        messageId,
        words: toIndexedWords(dialect, userId, piece),
      })
  }

  return {
    /** Indexes a text of a message, if it is not empty. */
    indexText,

    /** Indexes a complete step. @param userId the owner of its conversation. */
    async indexStep(
      tx: Writer,
      userId: UserId,
      messageId: MessageId,
      step: IndexedStep,
    ): Promise<void> {
      const entry = entryOfStep(step)
      if (entry === null) return
      await indexOfMessage(tx, { messageId, userId }, entry.kind, step.position, entry.text)
    },

    /** Removes the entries of a message's steps from `position` on. */
    async removeSteps(tx: Writer, messageId: MessageId, position: number): Promise<void> {
      const [message] = await tx
        .select({ row: messages.row })
        .from(messages)
        .where(eq(messages.id, messageId))
      if (message === undefined) return
      for (const kind of ['step', 'tool'] as const) {
        const from = rowidRange({ messageRow: message.row, kind, position })
        const to = rowidRange({ messageRow: message.row, kind, position: LAST_POSITION })
        if (from !== null && to !== null)
          await tx.delete(searchWords).where(between(searchWords.rowid, from[0], to[1]))
      }
    },

    /** Indexes the text of a user message. */
    indexQuestion: (tx: Writer, userId: UserId, { id, text }: { id: MessageId; text: string }) =>
      indexOfMessage(tx, { messageId: id, userId }, 'text', 0, text),
  }
}

/** Texts of attached files. */
function indexAttached(
  { dialect, tables }: Pick<Database, 'dialect' | 'tables'>,
  { entryStatement, indexText, remove }: IndexStatements,
) {
  const { searchWords, conversations, messages, attachments, files } = tables

  async function indexFiles(
    tx: Writer,
    owner: Owner,
    messageId: MessageId,
    indexing: Indexing = 'missing',
  ): Promise<void> {
    const found = await tx
      .select({
        position: attachments.position,
        name: attachments.name,
        text: sql<string>`substr(${attachmentText(tables)}, 1, ${sql.raw(String(READ_CHARACTERS))})`,
      })
      .from(attachments)
      .leftJoin(files, eq(files.id, attachments.fileId))
      .where(eq(attachments.messageId, messageId))
    for (const { position, name, text } of found) {
      const whole = `${name}\n${text}`
      await indexText(tx, owner, 'file', position, whole, indexing)
      if (hasMoreParts(whole))
        await tx
          .update(attachments)
          .set({ searchFrom: MAX_PARTS })
          .where(isAtPosition(messageId, position))
    }
  }

  const isAtPosition = (messageId: MessageId, position: number) =>
    and(eq(attachments.messageId, messageId), eq(attachments.position, position))

  /**
   * Indexes a file again whose text was read anew, in each message that has it. Packed lists keep the words of its earlier text,
   * too, until the message is deleted.
   */
  async function indexChangedFile(tx: Writer, fileId: FileId): Promise<void> {
    const found = await tx
      .select({
        messageId: attachments.messageId,
        position: attachments.position,
        row: messages.row,
        userId: conversations.userId,
      })
      .from(attachments)
      .innerJoin(messages, eq(messages.id, attachments.messageId))
      .innerJoin(conversations, eq(conversations.id, messages.conversationId))
      .where(eq(attachments.fileId, fileId))
    for (const { messageId, position, ...owner } of found) {
      const { row: messageRow } = owner
      const first = toRowid({ messageRow, kind: 'file', position: 0, part: 0 })
      const next = toRowid({ messageRow: messageRow + 1, kind: 'text', position: 0, part: 0 })
      const ofFile = eq(filePositionOf(sql`${searchWords.rowid}`), position)
      await tx.delete(searchWords).where(and(between(searchWords.rowid, first, next - 1), ofFile))
      await tx
        .update(attachments)
        .set({ searchFrom: null })
        .where(isAtPosition(messageId, position))
      await indexFiles(tx, owner, messageId)
    }
  }

  return {
    /** Indexes the names and the beginnings of the texts of a message's attachments. */
    indexFiles,

    indexChangedFile,

    /** Indexes one more part of an attachment, and records which part is next. */
    async indexFilePart(
      tx: Writer,
      file: Owner & { messageId: MessageId; position: number; part: number; text: string },
    ): Promise<void> {
      const { row, userId, messageId, position, part, text } = file
      // Another call has already indexed this part, or the attachment was deleted: there is nothing to do.
      const [moved] = await tx
        .update(attachments)
        .set({ searchFrom: partAfter(part, text) })
        .where(and(isAtPosition(messageId, position), eq(attachments.searchFrom, part)))
        .returning({ position: attachments.position })
      if (moved === undefined || text.trim() === '') return
      const entry = toRowid({ messageRow: row, kind: 'file', position, part })
      // The entry exists already if the file is indexed again.
      await remove(tx, entry)
      await entryStatement(tx).execute({ entry, words: toIndexedWords(dialect, userId, text) })
    },
  }
}

/** Titles. */
function indexTitles(
  { dialect, tables }: Pick<Database, 'dialect' | 'tables'>,
  { entryStatement, remove }: IndexStatements,
) {
  const { searchTitles } = tables
  const addTitleStatement = prepareOnEach((tx) =>
    tx
      .insert(searchTitles)
      .values({ conversationId: sql.placeholder('conversationId') })
      .onConflictDoNothing()
      .returning({ id: searchTitles.id })
      .prepare('number title'),
  )

  /** Removes the words of a conversation's title. Returns the number of the title. */
  async function removeTitle(tx: Writer, id: ConversationId): Promise<number | undefined> {
    const [numbered] = await tx
      .select({ id: searchTitles.id })
      .from(searchTitles)
      .where(eq(searchTitles.conversationId, id))
    if (numbered !== undefined) await remove(tx, -numbered.id)
    return numbered?.id
  }

  return {
    async indexTitle(
      tx: Writer,
      { id, userId, title }: { id: ConversationId; userId: UserId; title: string },
    ): Promise<void> {
      const [added] = await addTitleStatement(tx).execute({ conversationId: id })
      const number = added?.id ?? (await removeTitle(tx, id))
      if (number === undefined) return
      await entryStatement(tx).execute({
        entry: -number,
        words: toIndexedWords(dialect, userId, title),
      })
    },
  }
}
