// The branches of a conversation at a glance, on the wire.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { MessageId } from '../ids.ts'
import { MessageStatus } from './message.ts'

/** A stretch of messages without a fork: from the root or from a sibling up to the next fork or the end. */
export const Branch = z
  .object({
    /** Its first message. Showing that one shows the newest branch through it. */
    message_id: MessageId,
    /** The first message of the stretch that it forks from; null for a root. */
    parent_id: MessageId.nullable(),
    role: z.enum(['user', 'assistant']),
    /** The beginning of its first message. */
    text: z.string(),
    /** Of its first answer; null when that is not stored. */
    model: z.string().nullable(),
    status: MessageStatus,
    /** Messages up to the next fork. */
    messages: z.int(),
    /** It is on the shown path. */
    shown: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'Branch' })
/** The path from the root to the shown leaf. */
export type Branch = z.infer<typeof Branch>

export const BranchList = z
  .object({
    /** In the order in which they were created. */
    items: z.array(Branch),
    /** There are more than are listed. */
    truncated: z.boolean(),
  })
  .meta({ id: 'BranchList' })
