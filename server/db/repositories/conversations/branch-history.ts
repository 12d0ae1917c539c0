// What a run reads of its branch: messages with their steps, and what their runs and summaries say. Two statements.
import { and, asc, eq, getTableColumns, inArray, sql } from 'drizzle-orm'
import type { ConversationId, MessageId, RunId } from '../../../protocol/ids.ts'
import type { Step } from '../../../protocol/runs/step.ts'
import type { Database, Reader } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'
import {
  type AttachmentInfo,
  attachmentColumns,
  isDocumentOf,
  toAttachmentInfo,
} from './attachments.ts'
import { branchUpFrom } from './message-tree.ts'
import { toStep } from './steps.ts'

/** A message of a branch as models get it. */
export interface HistoryMessage {
  id: MessageId
  parentId: MessageId | null
  role: 'user' | 'assistant'
  text: string
  runId: RunId | null
  /** Of the run that wrote it, as stored; null if there is none. */
  runState: unknown
  runEndedAt: Date | null
  /** The summary of the branch up to this message. */
  summary: string | null
  attachments: AttachmentInfo[]
  steps: Step[]
  /** What providers must receive back with the calls, by position of the call. */
  carries: ReadonlyMap<number, string>
}

/** At most this many messages in one query for their attachments. */
const MESSAGES_PER_QUERY = 500
const NO_CARRIES: ReadonlyMap<number, string> = new Map()

/**
 * Reads the branch that ends at `from`, oldest first, its newest `length` messages, or fewer if they reach `maxBytes`. Empty
 * when the conversation has no such message.
 */
export function createBranchHistory({ dialect, read, tables }: Database) {
  const { messages, attachments, files, documents, steps, runs, summaries } = tables
  const conversation = sql.placeholder('conversationId')
  const branch = branchUpFrom(
    tables,
    conversation,
    sql.placeholder('from'),
    sql.placeholder('length'),
    sql.placeholder('maxBytes'),
  )
  const messageStatement = prepareOnEach((read: Reader) =>
    read
      .select({
        id: messages.id,
        parentId: messages.parentId,
        role: messages.role,
        text: messages.text,
        runId: messages.runId,
        runState: runs.state,
        runEndedAt: runs.endedAt,
        summary: summaries.text,
        // Few messages have any, so they are read only where there are some.
        hasFiles:
          sql`exists (select 1 from ${attachments} where ${attachments.messageId} = branch.id)`.mapWith(
            Boolean,
          ),
      })
      .from(branch)
      .crossJoin(messages)
      .leftJoin(runs, eq(runs.id, messages.runId))
      .leftJoin(
        summaries,
        and(eq(summaries.conversationId, conversation), eq(summaries.untilMessageId, messages.id)),
      )
      .where(sql`${messages.id} = branch.id`)
      .orderBy(sql`branch.depth desc`)
      .prepare('history messages'),
  )
  const stepStatement = prepareOnEach((read: Reader) =>
    read
      .select(getTableColumns(steps))
      .from(branch)
      .crossJoin(steps)
      .where(sql`${steps.messageId} = branch.id`)
      .orderBy(asc(steps.messageId), asc(steps.position))
      .prepare('history steps'),
  )

  async function filesOf(
    reader: Reader,
    ids: readonly MessageId[],
  ): Promise<Map<MessageId, AttachmentInfo[]>> {
    const found = new Map<MessageId, AttachmentInfo[]>()
    for (let from = 0; from < ids.length; from += MESSAGES_PER_QUERY) {
      const rows = await reader
        .select(attachmentColumns(tables))
        .from(attachments)
        .leftJoin(files, eq(files.id, attachments.fileId))
        .leftJoin(documents, isDocumentOf(tables))
        .where(inArray(attachments.messageId, ids.slice(from, from + MESSAGES_PER_QUERY)))
        .orderBy(asc(attachments.messageId), asc(attachments.position))
      for (const row of rows) {
        const ofMessage = found.get(row.messageId) ?? []
        found.set(row.messageId, ofMessage)
        ofMessage.push(toAttachmentInfo(row))
      }
    }
    return found
  }

  return async (
    conversationId: ConversationId,
    from: MessageId,
    { length, maxBytes }: { length: number; maxBytes: number },
    reader: Reader = read,
  ): Promise<HistoryMessage[]> => {
    const parameters = { conversationId, from, length, maxBytes }
    // PostgreSQL gets both statements together. SQLite answers at once, so the second is left out where nothing has steps.
    const readSteps = async () => await stepStatement(reader).execute(parameters)
    const [rows, early] = await Promise.all([
      messageStatement(reader).execute(parameters),
      dialect === 'postgres' ? readSteps() : null,
    ])
    const haveSteps = rows.some(({ role }) => role === 'assistant')
    const stepRows = early ?? (haveSteps ? await readSteps() : [])
    const withFiles = rows.flatMap(({ id, hasFiles }) => (hasFiles ? [id] : []))
    const attached = await filesOf(reader, withFiles)
    const stepsOf = new Map<MessageId, Step[]>()
    const carriesOf = new Map<MessageId, Map<number, string>>()
    for (const { carry, ...row } of stepRows) {
      const ofMessage = stepsOf.get(row.messageId) ?? []
      stepsOf.set(row.messageId, ofMessage)
      ofMessage.push(toStep(row))
      if (carry === null) continue
      const carries = carriesOf.get(row.messageId) ?? new Map<number, string>()
      carriesOf.set(row.messageId, carries.set(row.position, carry))
    }
    return rows.map(({ hasFiles: _, ...row }) => ({
      ...row,
      attachments: attached.get(row.id) ?? [],
      steps: stepsOf.get(row.id) ?? [],
      carries: carriesOf.get(row.id) ?? NO_CARRIES,
    }))
  }
}
