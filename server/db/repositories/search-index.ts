// Writes the search index: each text with its words, in the transaction that stores the text.
import { and, between, desc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { ConversationId, MessageId, UserId } from '../../protocol/ids.ts'
import type { Database, Writer } from '../database.ts'
import {
  LAST_POSITION,
  partsOf,
  rowidRange,
  type SearchKind,
  toIndexedWords,
  withoutEscapes,
} from '../search-entries.ts'
import { attachmentText } from './attachments.ts'

type Owner = { row: number; userId: UserId }
type IndexedStep = Pick<
  Database['tables']['steps']['$inferSelect'],
  'position' | 'type' | 'content'
> & { name?: string | null | undefined }

/** Characters of an attachment or step that are read for indexing. */
const READ_CHARACTERS = 240_000

/** The kind of entry of each step; null for steps that are not searched. */
const KIND_OF_STEP: Record<IndexedStep['type'], SearchKind | null> = {
  thinking: null,
  text: 'step',
  tool_call: 'tool',
  tool_result: 'tool',
}

/** Every method runs in the caller's transaction and replaces what was indexed for the same text before. */
export function createSearchIndex({ dialect, tables }: Pick<Database, 'dialect' | 'tables'>) {
  const { searchTitles, searchWords, conversations, messages, steps, attachments, files } = tables

  async function ownerOf(tx: Writer, messageId: MessageId): Promise<Owner | undefined> {
    const [owner] = await tx
      .select({ row: messages.row, userId: conversations.userId })
      .from(messages)
      .innerJoin(conversations, eq(conversations.id, messages.conversationId))
      .where(eq(messages.id, messageId))
    return owner
  }

  async function put(
    tx: Writer,
    { row, userId }: Owner,
    kind: SearchKind,
    position: number,
    text: string,
  ): Promise<void> {
    const range = rowidRange({ messageRow: row, kind, position })
    if (range === null) return
    await tx.delete(searchWords).where(between(searchWords.rowid, ...range))
    if (text.trim() === '') return
    for (const [part, words] of partsOf(text).entries())
      await tx
        .insert(searchWords)
        .values({ rowid: range[0] + part, words: toIndexedWords(dialect, userId, words) })
  }

  async function putStep(tx: Writer, owner: Owner, step: IndexedStep): Promise<void> {
    const kind = KIND_OF_STEP[step.type]
    if (kind === null) return
    const content =
      kind === 'tool' ? `${step.name ?? ''} ${withoutEscapes(step.content)}` : step.content
    await put(tx, owner, kind, step.position, content)
  }

  async function putFiles(tx: Writer, owner: Owner, messageId: MessageId): Promise<void> {
    const found = await tx
      .select({
        position: attachments.position,
        name: attachments.name,
        text: sql<string>`substr(${attachmentText(tables)}, 1, ${sql.raw(String(READ_CHARACTERS))})`,
      })
      .from(attachments)
      .leftJoin(files, eq(files.id, attachments.fileId))
      .where(eq(attachments.messageId, messageId))
    for (const { position, name, text } of found)
      await put(tx, owner, 'file', position, `${name}\n${text}`)
  }

  return {
    /** Indexes a complete step. */
    async putStep(tx: Writer, messageId: MessageId, step: IndexedStep): Promise<void> {
      if (KIND_OF_STEP[step.type] === null) return
      const owner = await ownerOf(tx, messageId)
      if (owner !== undefined) await putStep(tx, owner, step)
    },

    /** Removes the entries of a message's steps from `position` on. */
    async removeSteps(tx: Writer, messageId: MessageId, position: number): Promise<void> {
      const owner = await ownerOf(tx, messageId)
      if (owner === undefined) return
      for (const kind of ['step', 'tool'] as const) {
        const from = rowidRange({ messageRow: owner.row, kind, position })
        const to = rowidRange({ messageRow: owner.row, kind, position: LAST_POSITION })
        if (from !== null && to !== null)
          await tx.delete(searchWords).where(between(searchWords.rowid, from[0], to[1]))
      }
    },

    /** Indexes a user message with the names and texts of its attachments. */
    async putMessage(tx: Writer, messageId: MessageId, text: string): Promise<void> {
      const owner = await ownerOf(tx, messageId)
      if (owner === undefined) return
      await put(tx, owner, 'text', 0, text)
      await putFiles(tx, owner, messageId)
    },

    async putTitle(
      tx: Writer,
      { id, userId, title }: { id: ConversationId; userId: UserId; title: string },
    ): Promise<void> {
      await tx.insert(searchTitles).values({ conversationId: id }).onConflictDoNothing()
      const [numbered] = await tx
        .select({ id: searchTitles.id })
        .from(searchTitles)
        .where(eq(searchTitles.conversationId, id))
      if (numbered === undefined) return
      await tx.delete(searchWords).where(eq(searchWords.rowid, -numbered.id))
      await tx
        .insert(searchWords)
        .values({ rowid: -numbered.id, words: toIndexedWords(dialect, userId, title) })
    },

    /**
     * Indexes the newest stored messages up to a row, at most `limit` of them, steps and attachments included. Returns the
     * row that the next call continues from; 0 when nothing is left.
     */
    async putStored(tx: Writer, upTo: number, limit: number): Promise<number> {
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
        // The text of an answer is also that of its text steps, so it is indexed only if there are none.
        const hasText = message.role === 'user' || messageSteps.every(({ type }) => type !== 'text')
        if (hasText) await put(tx, message, 'text', 0, message.text)
        for (const step of messageSteps) await putStep(tx, message, step)
        if (message.role === 'user') await putFiles(tx, message, message.id)
      }
      const last = found.at(-1)
      return found.length < limit || last === undefined ? 0 : last.row - 1
    },

    /** Indexes the titles of some conversations that are not in the index. Returns how many there were. */
    async putStoredTitles(tx: Writer, limit: number): Promise<number> {
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
      for (const conversation of found) await this.putTitle(tx, conversation)
      return found.length
    },
  }
}
