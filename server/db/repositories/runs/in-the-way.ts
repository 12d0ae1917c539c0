// Which active run keeps another one of its conversation from starting, and which of the two places of the unique index
// `runs_one_active` a run takes.
import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'

/** The columns of the run that is to start. `beside`: whether it may be active at the same time as another one. */
type Starting = Record<'kind' | 'conversationId' | 'beside' | 'userMessageId', SQL | Placeholder>

/** The runs, as the conditions name them. */
export const otherRuns = ({ runs }: Pick<Database['tables'], 'runs'>): SQL => sql`${runs} as other`

/** Exactly the condition of the index, so that it is used and there are at most two. */
const isActive = (conversationId: SQL | Placeholder): SQL =>
  sql`other.conversation_id = ${conversationId} and other.kind = 'chat' and other.ended_at is null`

/**
 * Whether one of `otherRuns` is in the way: for a run that may be beside another, one that answers another question. The index
 * keeps a third one out.
 */
export const isInTheWay = ({ kind, conversationId, beside, userMessageId }: Starting): SQL =>
  sql`${kind} = 'chat' and ${isActive(conversationId)}
    and (not ${beside} or other.user_message_id is distinct from ${userMessageId})`

/** Whether the first place is taken, so that a run that may be beside another takes the second one. */
export const isFirstTaken = (
  tables: Pick<Database['tables'], 'runs'>,
  conversationId: SQL | Placeholder,
): SQL =>
  sql`exists (select 1 from ${otherRuns(tables)} where ${isActive(conversationId)} and not other.beside)`
