// Which active run keeps another one of its conversation from starting, in addition to the unique index `runs_one_active`.
import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'

/** The columns of the run that is to start. */
type Starting = Record<'kind' | 'conversationId' | 'beside' | 'userMessageId', SQL | Placeholder>

/** The runs, as the condition names them. */
export const otherRuns = ({ runs }: Pick<Database['tables'], 'runs'>): SQL => sql`${runs} as other`

/**
 * Whether one of `otherRuns` is in the way. The index lets a conversation have one active run, and one beside it; both must
 * answer the same question.
 */
export const isInTheWay = ({ kind, conversationId, beside, userMessageId }: Starting): SQL =>
  sql`${kind} = 'chat' and other.conversation_id = ${conversationId} and other.beside <> ${beside}
    and other.kind = 'chat' and other.ended_at is null
    and other.user_message_id is distinct from ${userMessageId}`
