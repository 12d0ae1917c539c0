// The tree of a conversation's branches: where it forks, and how each branch begins.
import { inArray, sql } from 'drizzle-orm'
import type { MessageStatus } from '../../../protocol/conversations/message.ts'
import type { ConversationId, MessageId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { joinEach } from '../../fragments.ts'

/** Maximum branches that are read: the newest. */
const MAX_BRANCHES = 500
/** Characters of the text at the start of a branch that are read. */
const EXCERPT_CHARACTERS = 200
/** Ids in one query. */
const IDS_PER_QUERY = 250

/** A stretch of messages without a fork. */
interface BranchRow {
  /** Its first message. */
  id: MessageId
  /** The first message of the stretch that it forks from; null for a root, and where that one is not listed. */
  parent: MessageId | null
  role: 'user' | 'assistant'
  text: string
  model: string | null
  status: MessageStatus
  messages: number
  shown: boolean
  createdAt: Date
}

/** Uses the table `messages`. */
export function createBranchTree({ readOffThread, tables }: Database) {
  const { messages } = tables

  /** The branches, oldest first. Visits every message of the conversation, off the event loop. */
  return async function branches(
    conversationId: ConversationId,
    leafId: MessageId | null,
  ): Promise<{ items: BranchRow[]; truncated: boolean }> {
    const isIn = sql`conversation_id = ${conversationId} and deleted_at is null`
    const hasSiblings = sql`exists (select 1 from ${messages} as other
      where other.${isIn} and other.parent_id = child.parent_id and other.id <> child.id)`
    const stretches = await readOffThread
      .select({
        head: sql<MessageId>`stretches.head`,
        parent: sql<MessageId | null>`stretches.parent`,
        messages: sql`stretches.messages`.mapWith(Number),
        holdsLeaf: sql`stretches.holds_leaf`.mapWith((value) => Number(value) === 1),
      })
      .from(sql`(
        with recursive walk(id, head, parent, number) as (
          select root.id, root.id, cast(null as text), root."row" from ${messages} as root
            where root.${isIn} and root.parent_id is null
          union all
          select child.id,
              case when ${hasSiblings} then child.id else walk.head end,
              case when ${hasSiblings} then walk.head else walk.parent end,
              child."row"
            from walk ${joinEach(messages, sql`child`, sql`child.${isIn} and child.parent_id = walk.id`)}
        ) select head, parent, count(*) as messages, min(number) as first,
            max(case when id = ${leafId} then 1 else 0 end) as holds_leaf
          from walk group by head, parent order by first desc limit ${MAX_BRANCHES + 1}
      ) as stretches`)
    const listed = stretches.slice(0, MAX_BRANCHES)
    const places = new Map(listed.map((stretch) => [stretch.head, stretch]))
    const shown = new Set<MessageId>()
    for (
      let stretch = listed.find(({ holdsLeaf }) => holdsLeaf);
      stretch !== undefined;
      stretch = stretch.parent === null ? undefined : places.get(stretch.parent)
    )
      shown.add(stretch.head)
    const heads = listed.map(({ head }) => head).reverse()
    const items: BranchRow[] = []
    for (let from = 0; from < heads.length; from += IDS_PER_QUERY) {
      const rows = await readOffThread
        .select({
          id: messages.id,
          role: messages.role,
          text: sql<string>`substr(${messages.text}, 1, ${EXCERPT_CHARACTERS})`,
          model: messages.model,
          status: messages.status,
          createdAt: messages.createdAt,
        })
        .from(messages)
        .where(inArray(messages.id, heads.slice(from, from + IDS_PER_QUERY)))
        .orderBy(messages.row)
      for (const row of rows) {
        const stretch = places.get(row.id)
        if (stretch === undefined) continue
        const { parent, messages: length } = stretch
        items.push({
          ...row,
          parent: parent !== null && places.has(parent) ? parent : null,
          messages: length,
          shown: shown.has(row.id),
        })
      }
    }
    return { items, truncated: stretches.length > MAX_BRANCHES }
  }
}
