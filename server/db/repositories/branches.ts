// Whole branches of a conversation: messages with their attachments, steps and siblings, in four statements at once.
import { asc, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { ConversationId, MessageId } from '../../protocol/ids.ts'
import type { Attachment } from '../../protocol/message.ts'
import type { Step } from '../../protocol/step.ts'
import type { Database } from '../database.ts'
import { joinEach } from '../fragments.ts'
import { toAttachment } from './attachments.ts'
import { branchUpFrom } from './message-tree.ts'
import { toStep } from './steps.ts'

export type MessageRow = Omit<Database['tables']['messages']['$inferSelect'], 'row'>

/** A message with everything that hangs on it. */
export type FullMessage = MessageRow & {
  attachments: Attachment[]
  steps: Step[]
  /** The ids of all messages at this place, oldest first, this one among them. */
  siblings: MessageId[]
}

/**
 * The branch that ends at `from`, oldest first, its newest `length` messages; none when the conversation has no such
 * message. The price depends on `length` only, not on how long the conversation is.
 */
export type ReadBranch = (
  conversationId: ConversationId,
  from: MessageId,
  length: number,
) => Promise<FullMessage[]>

export function createBranchReader({ read, tables }: Database): ReadBranch {
  const { messages, attachments, steps } = tables
  const { row: _row, ...columns } = getTableColumns(messages)
  const conversation = sql.placeholder('conversationId')
  const branch = branchUpFrom(
    messages,
    conversation,
    sql.placeholder('from'),
    sql.placeholder('length'),
  )

  // Each begins with the few rows of the branch: SQLite keeps the order of a cross join. The statements are put together
  // once, because that costs more than running them.
  const messageStatement = read
    .select(columns)
    .from(branch)
    .crossJoin(messages)
    .where(sql`${messages.id} = branch.id`)
    .orderBy(sql`branch.depth desc`)
    .prepare('branch messages')
  const attachmentStatement = read
    .select(getTableColumns(attachments))
    .from(branch)
    .crossJoin(attachments)
    .where(sql`${attachments.messageId} = branch.id`)
    .orderBy(asc(attachments.messageId), asc(attachments.position))
    .prepare('branch attachments')
  const stepStatement = read
    .select(getTableColumns(steps))
    .from(branch)
    .crossJoin(steps)
    .where(sql`${steps.messageId} = branch.id`)
    .orderBy(asc(steps.messageId), asc(steps.position))
    .prepare('branch steps')
  /** Children of the parents in the branch. Apart for those with a parent and those without: an `or` would lose the index. */
  const sibling = (condition: SQL): SQL => sql`
    select sibling.id, sibling.parent_id, sibling."row" as number
      from ${branch} ${joinEach(messages, sql`sibling`, sql`sibling.conversation_id = ${conversation} and ${condition}`)}`
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

  return async (conversationId, from, length) => {
    const place = { conversationId, from, length }
    const [rows, files, made, children] = await Promise.all([
      messageStatement.execute(place),
      attachmentStatement.execute(place),
      stepStatement.execute(place),
      siblingStatement.execute(place),
    ])
    const filesOf = grouped(files, (row) => row.messageId, toAttachment)
    const stepsOf = grouped(made, (row) => row.messageId, toStep)
    const childrenOf = grouped(
      children,
      (row) => row.parentId,
      (row) => row.id,
    )
    return rows.map((row) => ({
      ...row,
      attachments: filesOf.get(row.id) ?? [],
      steps: stepsOf.get(row.id) ?? [],
      siblings: childrenOf.get(row.parentId) ?? [row.id],
    }))
  }
}

/** Values by key, each group in the order of the rows. */
function grouped<Row, Key, Value>(
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
