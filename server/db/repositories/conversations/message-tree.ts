// Queries on the message tree of a conversation: branches, subtrees, leaves.
import { and, desc, eq, isNull, notLike, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { type ConversationId, MessageId } from '../../../protocol/ids.ts'
import type { Reader } from '../../database.ts'
import { joinEach } from '../../fragments.ts'
import type { Tables } from '../../tables.ts'

type Messages = Tables['messages']

const DETACHED_PREFIX = 'apart:'

/**
 * The parent of a detached message, which is outside of every branch: the answer of a background task that has not
 * joined the conversation yet. No message has this id, so no branch leads to it.
 */
export const detachedParent = (id: MessageId): MessageId =>
  MessageId.parse(`${DETACHED_PREFIX}${id}`)

/** The condition that a message is not detached. */
export const isAttached = ({ parentId }: Messages): SQL | undefined =>
  or(isNull(parentId), notLike(parentId, `${DETACHED_PREFIX}%`))

/** Bytes of a message in a response: its text and its steps; calls and results are in it twice. */
const shownBytes = (steps: Tables['steps'], message: SQL): SQL => sql`
  octet_length(${message}.text) + coalesce((
    select sum(2 * octet_length(step.content) + coalesce(octet_length(cast(step.artifact as text)), 0))
      from ${steps} as step where step.message_id = ${message}.id), 0)`

/**
 * From one message up to its root: a table `branch(id, parent_id, depth)`, depth 0 first, `length` rows at most. It
 * ends with the message that brings it to `maxBytes`.
 */
export const branchUpFrom = (
  { messages, steps }: Pick<Tables, 'messages' | 'steps'>,
  conversationId: ConversationId | Placeholder,
  from: MessageId | Placeholder,
  length: number | Placeholder,
  maxBytes: number | Placeholder,
): SQL => sql`(
  with recursive branch(id, parent_id, depth, bytes) as (
    select start.id, start.parent_id, 0, cast(${shownBytes(steps, sql`start`)} as bigint) from ${messages} as start
      where start.id = ${from} and start.conversation_id = ${conversationId} and start.deleted_at is null
    union all
    select parent.id, parent.parent_id, branch.depth + 1, cast(branch.bytes + ${shownBytes(steps, sql`parent`)} as bigint)
      from branch ${joinEach(messages, sql`parent`, sql`parent.id = branch.parent_id`)}
      where branch.depth + 1 < ${length} and branch.bytes < ${maxBytes}
  ) select id, parent_id, depth from branch) as branch`

/** A message and its descendants: a table `subtree(id, number)`, newer messages with larger numbers. */
const subtreeOf = (
  messages: Messages,
  conversationId: ConversationId,
  from: MessageId,
): SQL => sql`(
  with recursive subtree(id, number) as (
    select start.id, start."row" from ${messages} as start
      where start.id = ${from} and start.conversation_id = ${conversationId} and start.deleted_at is null
    union all
    select child.id, child."row"
      from subtree ${joinEach(messages, sql`child`, sql`child.parent_id = subtree.id and child.deleted_at is null`)}
  ) select id, number from subtree) as subtree`

/** The ids of a message and its descendants, newest first; empty when the message does not exist. */
export async function subtreeIds(
  read: Reader,
  messages: Messages,
  conversationId: ConversationId,
  from: MessageId,
): Promise<MessageId[]> {
  const rows = await read
    .select({ id: sql<MessageId>`subtree.id` })
    .from(subtreeOf(messages, conversationId, from))
    .orderBy(sql`subtree.number desc`)
  return rows.map(({ id }) => id)
}

/**
 * The newest message of a subtree, which has no children: where its newest branch ends. Null when `from` does not
 * exist.
 * @param preferred the leaf to return instead if the subtree holds it.
 */
export async function leafUnder(
  read: Reader,
  messages: Messages,
  conversationId: ConversationId,
  from: MessageId,
  preferred: MessageId | null = null,
): Promise<MessageId | null> {
  const [leaf] = await read
    .select({ id: sql<MessageId>`subtree.id` })
    .from(subtreeOf(messages, conversationId, from))
    .orderBy(sql`case when subtree.id = ${preferred} then 0 else 1 end`, sql`subtree.number desc`)
    .limit(1)
  return leaf?.id ?? null
}

/** Where the conversation's newest branch ends; null when it is empty. */
export async function newestLeaf(
  read: Reader,
  messages: Messages,
  conversationId: ConversationId,
): Promise<MessageId | null> {
  const [leaf] = await read
    .select({ id: messages.id })
    .from(messages)
    .where(
      and(
        eq(messages.conversationId, conversationId),
        isNull(messages.deletedAt),
        isAttached(messages),
      ),
    )
    .orderBy(desc(messages.row))
    .limit(1)
  return leaf?.id ?? null
}
