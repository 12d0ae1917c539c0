// Indexes texts that are already stored: those without an index, and those whose index lacks words.
import { and, asc, desc, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../database.ts'
import {
  type createSearchIndex,
  entryOfStep,
  type Indexing,
  LACKING,
  READ_CHARACTERS,
} from './index-writer.ts'

/** Every method runs in the caller's transaction. */
export function createStoredTexts(
  { tables }: Pick<Database, 'tables'>,
  index: ReturnType<typeof createSearchIndex>,
) {
  const { searchTitles, conversations, messages, steps } = tables

  return {
    /**
     * Indexes the newest stored messages up to a row, at most `limit` of them, steps and attachments included. Returns the
     * row that the next call continues from; 0 when nothing is left.
     */
    async put(
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
        if (hasText) await index.put(tx, message, 'text', 0, message.text, indexing)
        for (const step of messageSteps) {
          const entry = entryOfStep(step)
          if (entry !== null)
            await index.put(tx, message, entry.kind, step.position, entry.text, indexing)
        }
        await index.putFiles(tx, message, message.id, indexing)
      }
      const last = found.at(-1)
      return found.length < limit || last === undefined ? 0 : last.row - 1
    },

    /** Indexes the titles of some conversations that are not in the index. Returns their number. */
    async putTitles(tx: Writer, limit: number): Promise<number> {
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
      for (const conversation of found) await index.putTitle(tx, conversation)
      return found.length
    },

    /**
     * Indexes some titles again, after the title with the number `after`. Returns the number of the last one; null when
     * nothing is left.
     */
    async putTitlesAgain(
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
      for (const title of found) if (LACKING[indexing](title.title)) await index.putTitle(tx, title)
      return found.at(-1)?.number ?? null
    },
  }
}
