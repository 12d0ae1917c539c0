// The branches of a conversation at a glance, on the wire.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { MessageId } from '../ids.ts'
import { MessageStatus } from './message.ts'

/** A stretch of messages without a fork: from the root or a sibling to the next fork or the end. */
export const Branch = z
  .object({
    /** Its first message. Showing that message shows the newest branch through it. */
    message_id: MessageId,
    /** The first message of the stretch from which it forks; null for a root. */
    parent_id: MessageId.nullable(),
    role: z.enum(['user', 'assistant']),
    /** The beginning of its first message's text. */
    text: z.string(),
    /** The model of its first answer; null if that is not stored. */
    model: z.string().nullable(),
    status: MessageStatus,
    /** Number of messages up to the next fork. */
    messages: z.int(),
    /** Whether it is on the shown branch. */
    shown: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'Branch' })
export type Branch = z.infer<typeof Branch>

export const BranchList = z
  .object({
    /** In order of creation. */
    items: z.array(Branch),
    /** Whether there are more branches than are listed. */
    truncated: z.boolean(),
  })
  .meta({ id: 'BranchList' })
