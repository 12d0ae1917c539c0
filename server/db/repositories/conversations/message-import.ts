// Stores many complete messages at once, with their steps, files and search entries: in a few statements instead of several
// per message.
import { eq, type SQL, sql } from 'drizzle-orm'
import { createTurns } from '../../../lib/turns.ts'
import type { Citation } from '../../../protocol/conversations/citation.ts'
import type { Feedback } from '../../../protocol/conversations/message.ts'
import type { ConversationId, MessageId, UserId } from '../../../protocol/ids.ts'
import type { Plan } from '../../../protocol/runs/plan.ts'
import type { StoredReceipt } from '../../../protocol/runs/receipt.ts'
import type { Database, Writer } from '../../database.ts'
import {
  ENTRIES_PER_MESSAGE,
  indexedValue,
  partsOf,
  rowidRange,
  type SearchKind,
  toIndexedWords,
} from '../../search-entries.ts'
import { createSearchIndex, entryOfStep } from '../search/index-writer.ts'
import type { MessageRow } from './branches.ts'
import { type StoredAttachmentFile, toAttachmentRow } from './new-attachments.ts'
import type { NewStep } from './steps.ts'

/** Maximum rows of one statement, because SQLite executes it on the event loop. */
const ROWS_AT_ONCE = 50
/** Bytes of artifacts after which a statement has enough rows. */
const ARTIFACT_BYTES_AT_ONCE = 256 * 1024

/** A message with its attachments and steps, as imports store it. */
export interface CompleteMessage {
  message: Omit<MessageRow, 'conversationId'> & {
    editedFrom?: MessageId | undefined
    feedback?: Feedback | undefined
    receipt?: StoredReceipt | undefined
    plan?: Plan | undefined
    citations?: readonly Citation[] | undefined
  }
  steps: readonly NewStep[]
  files: readonly StoredAttachmentFile[]
}

/** A step whose artifact is JSON text already. */
type PreparedStep = Omit<NewStep, 'artifact'> & { artifact: SQL | null }

/** Messages with the words of their texts. */
export interface PreparedMessages {
  messages: readonly CompleteMessage[]
  /** The steps that one statement stores. */
  steps: readonly (readonly PreparedStep[])[]
  entries: readonly { messageId: MessageId; offset: number; words: string }[]
}

/** Uses the tables `messages`, `steps`, `attachments`, `conversations` and `searchWords`. */
export function createMessageImport(database: Pick<Database, 'dialect' | 'tables'>) {
  const { dialect, tables } = database
  const { messages, steps, attachments, conversations, searchWords } = tables
  const index = createSearchIndex(database)

  return {
    /** Finds the words of the texts and writes the artifacts as JSON, outside of a transaction so that it can yield to other work. */
    async prepare(userId: UserId, complete: readonly CompleteMessage[]): Promise<PreparedMessages> {
      const entries: { messageId: MessageId; offset: number; words: string }[] = []
      const turn = createTurns()
      const add = async (
        messageId: MessageId,
        kind: SearchKind,
        position: number,
        text: string,
      ): Promise<void> => {
        const range = rowidRange({ messageRow: 0, kind, position })
        if (range === null || text.trim() === '') return
        for (const [part, piece] of partsOf(text).entries()) {
          const words = toIndexedWords(dialect, userId, piece)
          entries.push({ messageId, offset: range[0] + part, words })
          await turn()
        }
      }
      const stepRows: PreparedStep[][] = []
      let some: PreparedStep[] = []
      let artifactBytes = 0
      for (const { message, steps: own } of complete) {
        // The text of an answer is indexed with its steps.
        if (message.role === 'user') await add(message.id, 'text', 0, message.text)
        for (const step of own) {
          const entry = entryOfStep(step)
          if (entry !== null) await add(message.id, entry.kind, step.position, entry.text)
          const artifact = step.artifact == null ? null : JSON.stringify(step.artifact)
          some.push({ ...step, artifact: artifact === null ? null : sql`${artifact}` })
          artifactBytes += artifact?.length ?? 0
          if (some.length >= ROWS_AT_ONCE || artifactBytes >= ARTIFACT_BYTES_AT_ONCE) {
            stepRows.push(some)
            some = []
            artifactBytes = 0
          }
          if (artifact !== null) await turn()
        }
      }
      if (some.length > 0) stepRows.push(some)
      return { messages: complete, steps: stepRows, entries }
    },

    /** Adds messages to a conversation and shows the last as its leaf. Parents come before their children. */
    async insert(
      tx: Writer,
      userId: UserId,
      conversationId: ConversationId,
      { messages: complete, steps: stepRows, entries }: PreparedMessages,
    ): Promise<void> {
      const leaf = complete.at(-1)?.message
      if (leaf === undefined) return
      const rows = new Map<MessageId, number>()
      // A message may have thousands of steps. On SQLite the open transaction waits meanwhile, but no reader sees it.
      const turn = createTurns()
      for (const some of slicesOf(complete)) {
        await turn()
        const inserted = await tx
          .insert(messages)
          .values(some.map(({ message }) => ({ ...message, conversationId })))
          .returning({ id: messages.id, row: messages.row })
        for (const { id, row } of inserted) rows.set(id, row)
      }
      await tx
        .update(conversations)
        .set({
          leafId: leaf.id,
          updatedAt: leaf.createdAt,
          messageCount: sql`${conversations.messageCount} + ${complete.length}`,
        })
        .where(eq(conversations.id, conversationId))
      for (const some of stepRows) {
        await turn()
        await tx.insert(steps).values([...some])
      }
      for (const some of slicesOf(entries)) {
        await turn()
        await tx.insert(searchWords).values(
          some.map(({ messageId, offset, words }) => ({
            rowid: (rows.get(messageId) ?? 0) * ENTRIES_PER_MESSAGE + offset,
            words: sql<string>`${indexedValue(dialect, sql`${words}`)}`,
          })),
        )
      }
      for (const { message, files } of complete) {
        const row = rows.get(message.id)
        if (files.length === 0 || row === undefined) continue
        await tx
          .insert(attachments)
          .values(files.map((file, position) => toAttachmentRow(message.id, position, file)))
        await index.indexFiles(tx, { row, userId }, message.id)
      }
    },
  }
}

function* slicesOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    yield rows.slice(from, from + ROWS_AT_ONCE)
}
