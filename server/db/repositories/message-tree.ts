// The tree that a conversation's messages form, walked by the database itself: branches, subtrees, leaves.
import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { ConversationId, MessageId } from '../../protocol/ids.ts'
import type { Reader } from '../database.ts'
import type { Tables } from '../tables.ts'

type Messages = Tables['messages']

/** From one message up to its root: a table `branch(id, depth)`, depth 0 first, `length` rows at most. */
export const branchUpFrom = (
  messages: Messages,
  conversationId: ConversationId,
  from: MessageId,
  length: number,
): SQL => sql`(
  with recursive branch(id, parent_id, depth) as (
    select start.id, start.parent_id, 0 from ${messages} as start
      where start.id = ${from} and start.conversation_id = ${conversationId}
    union all
    select parent.id, parent.parent_id, branch.depth + 1
      from branch join ${messages} as parent on parent.id = branch.parent_id
      where branch.depth + 1 < ${length}
  ) select id, depth from branch) as branch`

/** A message and all that hangs on it: a query of ids, to be used after `in`. */
export const subtreeOf = (
  messages: Messages,
  conversationId: ConversationId,
  from: MessageId,
): SQL => sql`(
  with recursive subtree(id) as (
    select start.id from ${messages} as start
      where start.id = ${from} and start.conversation_id = ${conversationId}
    union all
    select child.id from subtree join ${messages} as child on child.parent_id = subtree.id
  ) select id from subtree)`

/** The newest message of a subtree that has no children: where its newest branch ends. null when `from` is not there. */
export async function leafUnder(
  read: Reader,
  messages: Messages,
  conversationId: ConversationId,
  from: MessageId,
): Promise<MessageId | null> {
  const [leaf] = await read
    .select({ id: messages.id })
    .from(messages)
    .where(sql`${messages.id} in ${subtreeOf(messages, conversationId, from)}`)
    .orderBy(desc(messages.row))
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
    .where(and(eq(messages.conversationId, conversationId)))
    .orderBy(desc(messages.row))
    .limit(1)
  return leaf?.id ?? null
}
