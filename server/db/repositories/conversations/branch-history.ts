// Reads what a run needs of its branch, in two statements: messages with their steps, run states and summaries.
import {
  and,
  asc,
  eq,
  getTableColumns,
  inArray,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import { createTurns } from '../../../lib/turns.ts'
import type { ConversationId, MessageId, RunId } from '../../../protocol/ids.ts'
import { modelImagesOf, type Step } from '../../../protocol/runs/step.ts'
import type { Database, Reader } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'
import { isResumable } from '../runs/resumable.ts'
import {
  type AttachmentInfo,
  attachmentColumns,
  isDocumentOf,
  toAttachmentInfo,
} from './attachments.ts'
import { branchUpFrom } from './message-tree.ts'
import { artifactText, toStep, withArtifacts } from './steps.ts'

/** A message of a branch as models receive it. */
export interface HistoryMessage {
  id: MessageId
  parentId: MessageId | null
  role: 'user' | 'assistant'
  text: string
  runId: RunId | null
  /** The stored state of the run that wrote it; null if there is none. */
  runState: unknown
  runEndedAt: Date | null
  /** The summary of the branch up to this message. */
  summary: string | null
  attachments: AttachmentInfo[]
  /** Without artifacts. Of these, models see only images. */
  steps: Step[]
  /** Whether a step contains text from outside. */
  holdsOutsideText: boolean
  /** What providers must receive back with the calls, by position of the call. */
  carries: ReadonlyMap<number, string>
  /** The images that models see with results, by position of the result. */
  images: ReadonlyMap<number, readonly StepImage[]>
}

/** An image of a tool result; `data` is base64. */
export interface StepImage {
  mime: string
  data: string
}

/** A message that was read, with what decides whether it must be read again. */
export interface ReadMessage {
  message: HistoryMessage
  /** Everything except its attachments and its summary never changes again. */
  isFinal: boolean
  hasFiles: boolean
  /** How many summaries its conversation has. */
  summaryCount: number
}

/** Reads the messages of a branch for runs. */
export type BranchHistory = ReturnType<typeof createBranchHistory>

/** Maximum messages that one query reads by id. */
const MESSAGES_PER_QUERY = 500
const NO_CARRIES: ReadonlyMap<number, string> = new Map()
const NO_IMAGES: HistoryMessage['images'] = new Map()

/** The queries of a history: both start from a table `branch(id, depth)`, so that they read only the rows they need. */
function createQueries({ tables }: Pick<Database, 'tables'>) {
  const { messages, attachments, steps, runs, summaries } = tables
  return {
    messagesOf: (read: Reader, branch: SQL, conversation: ConversationId | Placeholder) =>
      read
        .select({
          id: messages.id,
          parentId: messages.parentId,
          role: messages.role,
          text: messages.text,
          runId: messages.runId,
          runState: runs.state,
          runEndedAt: runs.endedAt,
          runStatus: runs.status,
          finishReason: runs.finishReason,
          summary: summaries.text,
          summaryCount:
            sql`(select count(*) from ${summaries} as every where every.conversation_id = ${conversation})`.mapWith(
              Number,
            ),
          // Few messages have attachments, so they are read only where there are some.
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
          and(
            eq(summaries.conversationId, conversation),
            eq(summaries.untilMessageId, messages.id),
          ),
        )
        .where(sql`${messages.id} = branch.id`)
        .orderBy(sql`branch.depth desc`),
    stepsOf: (read: Reader, branch: SQL) =>
      read
        .select({ ...getTableColumns(steps), artifact: artifactText(steps) })
        .from(branch)
        .crossJoin(steps)
        .where(sql`${steps.messageId} = branch.id`)
        .orderBy(asc(steps.messageId), asc(steps.position)),
  }
}

type Queries = ReturnType<typeof createQueries>
type MessageRow = Awaited<ReturnType<Queries['messagesOf']>>[number]
type StoredStepRow = Awaited<ReturnType<Queries['stepsOf']>>[number]
type StepRow = Awaited<ReturnType<typeof withArtifacts<StoredStepRow>>>[number]

/** Creates the queries that read branches for runs. */
export function createBranchHistory(database: Database) {
  const { dialect, tables } = database
  const { messages, summaries } = tables
  const { messagesOf, stepsOf } = createQueries(database)
  const conversation = sql.placeholder('conversationId')
  const upFrom = branchUpFrom(
    tables,
    conversation,
    sql.placeholder('from'),
    sql.placeholder('length'),
    sql.placeholder('maxBytes'),
  )
  const branchMessages = prepareOnEach((read: Reader) =>
    messagesOf(read, upFrom, conversation).prepare('history messages'),
  )
  const branchSteps = prepareOnEach((read: Reader) =>
    stepsOf(read, upFrom).prepare('history steps'),
  )

  return {
    filesOf: (ids: readonly MessageId[], reader: Reader) => filesOf(database, ids, reader),

    /**
     * Reads the branch that ends at `from`, oldest first, its newest `length` messages, or fewer if they reach `maxBytes`.
     * Empty when the conversation has no such message. Two statements.
     * @param reader of `readInOrder`.
     */
    async branch(
      conversationId: ConversationId,
      from: MessageId,
      { length, maxBytes }: { length: number; maxBytes: number },
      reader: Reader,
    ): Promise<ReadMessage[]> {
      const parameters = { conversationId, from, length, maxBytes }
      // PostgreSQL receives both statements together. SQLite returns at once, so the second is skipped if no message has
      // steps.
      const readSteps = async () => await branchSteps(reader).execute(parameters)
      const [rows, early] = await Promise.all([
        branchMessages(reader).execute(parameters),
        dialect === 'postgres' ? readSteps() : null,
      ])
      const haveSteps = rows.some(({ role }) => role === 'assistant')
      return await complete(database, rows, early ?? (haveSteps ? await readSteps() : []), reader)
    },

    /** Reads some messages, in any order. @param reader of `readInOrder`. */
    async some(
      conversationId: ConversationId,
      ids: readonly MessageId[],
      reader: Reader,
    ): Promise<ReadMessage[]> {
      const found: ReadMessage[] = []
      for (let from = 0; from < ids.length; from += MESSAGES_PER_QUERY) {
        const wanted = inArray(messages.id, ids.slice(from, from + MESSAGES_PER_QUERY))
        const branch = sql`(select id, 0 as depth from ${messages} where ${wanted}) as branch`
        const [rows, stepRows] = await Promise.all([
          messagesOf(reader, branch, conversationId),
          stepsOf(reader, branch),
        ])
        found.push(...(await complete(database, rows, stepRows, reader)))
      }
      return found
    },

    /** All summaries of a conversation, by the last message that they replace. They never change. */
    async summaries(
      conversationId: ConversationId,
      reader: Reader,
    ): Promise<ReadonlyMap<MessageId, string>> {
      const rows = await reader
        .select({ untilMessageId: summaries.untilMessageId, text: summaries.text })
        .from(summaries)
        .where(eq(summaries.conversationId, conversationId))
      return new Map(rows.map(({ untilMessageId, text }) => [untilMessageId, text]))
    },
  }
}

async function complete(
  database: Database,
  rows: readonly MessageRow[],
  storedSteps: readonly StoredStepRow[],
  reader: Reader,
): Promise<ReadMessage[]> {
  const stepRows = await withArtifacts(storedSteps)
  const withFiles = rows.flatMap(({ id, hasFiles }) => (hasFiles ? [id] : []))
  const attached = await filesOf(database, withFiles, reader)
  const ofMessages = new Map<MessageId, StepRow[]>()
  for (const row of stepRows) {
    const ofMessage = ofMessages.get(row.messageId)
    if (ofMessage === undefined) ofMessages.set(row.messageId, [row])
    else ofMessage.push(row)
  }
  // Everything has been read, so others may write meanwhile.
  const turn = createTurns()
  const completed: ReadMessage[] = []
  for (const row of rows) {
    completed.push(toReadMessage(row, ofMessages.get(row.id) ?? [], attached.get(row.id) ?? []))
    await turn()
  }
  return completed
}

/** The attachments of some messages. */
async function filesOf(
  database: Database,
  ids: readonly MessageId[],
  reader: Reader,
): Promise<ReadonlyMap<MessageId, AttachmentInfo[]>> {
  const { tables } = database
  const { attachments, files, documents } = database.tables
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

/** The images that models see with the results of these steps. */
export function imagesOf(
  rows: readonly Pick<StepRow, 'position' | 'artifact'>[],
): HistoryMessage['images'] {
  const found = rows.flatMap(({ position, artifact }): [number, StepImage[]][] => {
    const images = modelImagesOf(artifact)
    return images.length === 0 ? [] : [[position, images]]
  })
  return found.length === 0 ? NO_IMAGES : new Map(found)
}

function toReadMessage(
  { hasFiles, summaryCount, runStatus, finishReason, ...row }: MessageRow,
  allSteps: readonly StepRow[],
  attachments: AttachmentInfo[],
): ReadMessage {
  // Models do not learn of the calls of apps, so that those of an answer that is remembered may grow.
  const stepRows = allSteps.filter(({ origin }) => origin === null)
  const carries = stepRows.flatMap(({ position, carry }): [number, string][] =>
    carry === null ? [] : [[position, carry]],
  )
  const message = {
    ...row,
    attachments,
    steps: stepRows.map((step) => toStep({ ...step, artifact: null })),
    holdsOutsideText: allSteps.some(({ artifact }) => artifact?.untrusted === true),
    carries: carries.length === 0 ? NO_CARRIES : new Map(carries),
    images: imagesOf(stepRows),
  }
  const hasEnded =
    row.runId === null ||
    (runStatus !== null &&
      row.runEndedAt !== null &&
      !isResumable({ status: runStatus, finishReason, endedAt: row.runEndedAt }))
  // A program sends the results of its tools after the answer that called them.
  return {
    message,
    isFinal: row.role === 'user' || (hasEnded && !hasOpenCall(message.steps)),
    hasFiles,
    summaryCount,
  }
}

function hasOpenCall(steps: readonly Step[]): boolean {
  const answered = new Set(
    steps.flatMap((step) => (step.type === 'tool_result' ? [step.id_ref] : [])),
  )
  return steps.some((step) => step.type === 'tool_call' && !answered.has(step.id_ref))
}
