// The list of a user's runs on the wire.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ConversationId, MessageId, RunId } from '../ids.ts'
import { RunStatus } from './run.ts'
import { Usage } from './usage.ts'

/** One run in a list. */
export const ListedRun = z
  .object({
    id: RunId,
    conversation_id: ConversationId,
    /** Empty for a conversation without one. */
    conversation_title: z.string(),
    /** The message with its answer. */
    message_id: MessageId,
    kind: z.enum(['chat', 'background']),
    status: RunStatus,
    model: z.string(),
    usage: Usage,
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'ListedRun' })
export type ListedRun = z.infer<typeof ListedRun>
