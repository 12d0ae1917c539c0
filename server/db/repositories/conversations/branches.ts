// Whole branches of a conversation: messages with their attachments, steps and siblings, in four concurrent statements.
import { and, asc, type Column, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { LongJson, LongText } from '../../../lib/json-pieces.ts'
import type { ConversationId, MessageId } from '../../../protocol/ids.ts'
import type { ReceiptSummary } from '../../../protocol/runs/receipt.ts'
import type { RunFailure } from '../../../protocol/runs/run.ts'
import type { FinishReason } from '../../../protocol/runs/run-event.ts'
import type { Step } from '../../../protocol/runs/step.ts'
import type { Database } from '../../database.ts'
import { byteLength, joinEach, readLongText } from '../../fragments.ts'
import {
  type AttachmentInfo,
  attachmentColumns,
  isDocumentOf,
  toAttachmentInfo,
} from './attachments.ts'
import { branchUpFrom } from './message-tree.ts'
import { artifactText, readLongArtifact, toStep, withArtifacts } from './steps.ts'

/** An existing message, without what is set later: its deletion, the feedback, what its run did. */
export type MessageRow = Omit<
  Database['tables']['messages']['$inferSelect'],
  'row' | 'deletedAt' | 'deletedWith' | keyof LaterColumns
>

/** What is set when the message is there. */
export type LaterColumns = Pick<
  Database['tables']['messages']['$inferSelect'],
  'editedFrom' | 'feedback' | 'receipt' | 'plan' | 'citations' | 'quiet'
>

type RunColumns = Database['tables']['runs']['$inferSelect']

/** A message with everything that belongs to it, except the contents of attachments. */
export type FullMessage = MessageRow &
  Omit<LaterColumns, 'receipt'> & {
    /** What an answer did, in numbers; the lists, which may be long, are read on demand. */
    receipt: ReceiptSummary | null
    /** How its run ended; null for a user message and while the run is active. */
    finishReason: FinishReason | null
    reachedLimit: RunColumns['reachedLimit']
    /** Why its run failed. */
    failure: RunFailure | null
    /** Tokens and cost of its run. */
    usage: Pick<RunColumns, 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'cost'> | null
    /** The timeline of its run. */
    timeline: RunColumns['timeline']
    attachments: AttachmentInfo[]
    steps: Step[]
    /** Texts too long to be read with the branch (empty above): the message's own, or a step's by its position. */
    longTexts: ReadonlyMap<'text' | number, LongText>
    /** Artifacts too long to be read with the branch (absent above), by the positions of their steps. */
    longArtifacts: ReadonlyMap<number, LongJson>
    /** Whether it is too long to be written as JSON in one turn of the event loop. */
    isLong: boolean
    /** The ids of all messages with the same parent, oldest first, including this one. */
    siblings: MessageId[]
  }

/**
 * The branch that ends at `from`, oldest first, its newest `length` messages; empty when the conversation has no such
 * message. The cost depends on `length` only, not on the length of the conversation.
 */
export type ReadBranch = (
  conversationId: ConversationId,
  from: MessageId,
  length: number,
  bounds?: {
    /** Older messages are left out once the newer ones reach this many bytes. */
    maxBytes?: number
    /** Maximum bytes of a text or an artifact that is read with the branch. */
    inlineBytes?: number
    /** If false, `siblings` holds the message alone: reading every message of many would read all siblings each time. */
    withSiblings?: boolean
  },
) => Promise<FullMessage[]>

/** The summary of a stored receipt, taken out by the database. */
const receiptSummary = ({ receipt }: Pick<Database['tables']['messages'], 'receipt'>) =>
  sql<ReceiptSummary | null>`cast(${receipt} -> 'summary' as text)`.mapWith(
    (text: string): ReceiptSummary => JSON.parse(text),
  )

const UNBOUNDED = 2 ** 31 - 1

/** The four queries that read a branch. */
function prepareStatements({ read, tables }: Pick<Database, 'read' | 'tables'>) {
  const { messages, attachments, files, documents, steps, runs } = tables
  const { row: _row, deletedAt: _at, deletedWith: _with, ...columns } = getTableColumns(messages)
  const conversation = sql.placeholder('conversationId')
  const branch = branchUpFrom(
    tables,
    conversation,
    sql.placeholder('from'),
    sql.placeholder('length'),
    sql.placeholder('maxBytes'),
  )
  /** A text, or an empty one if it is too long to be read with the branch. */
  const inline = (text: Column) => ({
    value: sql<string>`case when octet_length(${text}) <= ${sql.placeholder('inlineBytes')} then ${text} else '' end`,
    bytes: byteLength(text),
  })
  const messageText = inline(messages.text)
  const stepContent = inline(steps.content)
  const artifact = artifactText(steps)
  const artifactBytes = sql`coalesce(${byteLength(artifact)}, 0)`.mapWith(Number)
  // The `carry` of a step is for its provider only; `carries` of the steps reads it.
  const { carry: _carry, ...stepColumns } = getTableColumns(steps)

  // Every statement starts from the few rows of the branch: SQLite keeps the order of a cross join. They are prepared
  // once, because building them costs more than running them.
  const messageStatement = read
    .select({
      ...columns,
      receipt: receiptSummary(messages),
      text: messageText.value,
      bytes: messageText.bytes,
      finishReason: runs.finishReason,
      reachedLimit: runs.reachedLimit,
      failure: runs.error,
      timeline: runs.timeline,
      usage: {
        promptTokens: runs.promptTokens,
        completionTokens: runs.completionTokens,
        cachedTokens: runs.cachedTokens,
        cost: runs.cost,
      },
    })
    .from(branch)
    .crossJoin(messages)
    .leftJoin(runs, eq(runs.id, messages.runId))
    .where(sql`${messages.id} = branch.id`)
    .orderBy(sql`branch.depth desc`)
    .prepare('branch messages')
  const attachmentStatement = read
    .select(attachmentColumns(tables))
    .from(branch)
    .crossJoin(attachments)
    .leftJoin(files, eq(files.id, attachments.fileId))
    .leftJoin(documents, isDocumentOf(tables))
    .where(sql`${attachments.messageId} = branch.id`)
    .orderBy(asc(attachments.messageId), asc(attachments.position))
    .prepare('branch attachments')
  const stepStatement = read
    .select({
      ...stepColumns,
      content: stepContent.value,
      bytes: stepContent.bytes,
      artifact: sql<
        string | null
      >`case when ${artifactBytes} <= ${sql.placeholder('inlineBytes')} then ${artifact} end`,
      artifactBytes,
    })
    .from(branch)
    .crossJoin(steps)
    .where(sql`${steps.messageId} = branch.id`)
    .orderBy(asc(steps.messageId), asc(steps.position))
    .prepare('branch steps')
  /**
   * Children of the parents in the branch. Separate for messages with and without a parent: an `or` would not use the
   * index.
   */
  const sibling = (condition: SQL): SQL => sql`
    select sibling.id, sibling.parent_id, sibling."row" as number
      from ${branch} ${joinEach(messages, sql`sibling`, sql`sibling.conversation_id = ${conversation} and sibling.deleted_at is null and ${condition}`)}`
  const siblingStatement = read
    .select({
      id: sql<MessageId>`siblings.id`,
      parentId: sql<MessageId | null>`siblings.parent_id`,
    })
    .from(
      sql`(${sibling(sql`sibling.parent_id = branch.parent_id`)}
        union all ${sibling(sql`branch.parent_id is null and sibling.parent_id is null`)}) as siblings`,
    )
    .orderBy(sql`siblings.number`)
    .prepare('branch siblings')
  return { messageStatement, attachmentStatement, stepStatement, siblingStatement }
}

/** Uses the tables `messages`, `attachments`, `files`, `documents`, `steps` and `runs`. */
export function createBranchReader(database: Database): ReadBranch {
  const { read, tables } = database
  const { messages, steps } = tables
  const { messageStatement, attachmentStatement, stepStatement, siblingStatement } =
    prepareStatements({ read, tables })

  return async (conversationId, from, length, bounds = {}) => {
    const { maxBytes = UNBOUNDED, inlineBytes = UNBOUNDED, withSiblings = true } = bounds
    const parameters = { conversationId, from, length, maxBytes }
    const [rows, fileRows, stepRows, children] = await Promise.all([
      messageStatement.execute({ ...parameters, inlineBytes }),
      attachmentStatement.execute(parameters),
      stepStatement.execute({ ...parameters, inlineBytes }),
      withSiblings ? siblingStatement.execute(parameters) : [],
    ])
    const filesOf = groupBy(fileRows, (row) => row.messageId, toAttachmentInfo)
    const stepsOf = groupBy(
      await withArtifacts(stepRows),
      (row) => row.messageId,
      (row) => row,
    )
    const childrenOf = groupBy(
      children,
      (row) => row.parentId,
      (row) => row.id,
    )
    return rows.map(({ bytes, ...row }) => {
      const messageSteps = stepsOf.get(row.id) ?? []
      const longTexts = new Map<'text' | number, LongText>()
      const longArtifacts = new Map<number, LongJson>()
      let total = bytes
      if (bytes > inlineBytes)
        longTexts.set('text', readLongText(read, messages, messages.text, eq(messages.id, row.id)))
      for (const step of messageSteps) {
        total += step.bytes + step.artifactBytes
        if (step.artifactBytes > inlineBytes)
          longArtifacts.set(step.position, readLongArtifact(database, row.id, step.position))
        if (step.bytes > inlineBytes) {
          const isAtPosition = and(eq(steps.messageId, row.id), eq(steps.position, step.position))
          longTexts.set(step.position, readLongText(read, steps, steps.content, isAtPosition))
        }
      }
      return {
        ...row,
        attachments: filesOf.get(row.id) ?? [],
        steps: messageSteps.map(toStep),
        longTexts,
        longArtifacts,
        isLong: total > inlineBytes,
        siblings: childrenOf.get(row.parentId) ?? [row.id],
      }
    })
  }
}

/** Values by key, each group in the order of the rows. */
function groupBy<Row, Key, Value>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  toValue: (row: Row) => Value,
): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [toValue(row)])
    else group.push(toValue(row))
  }
  return groups
}
