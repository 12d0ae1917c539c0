// What is stored of messages on their way: of those that came in, and of the parts that go out.
import { z } from 'zod'
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { IncomingRow } from '../db/repositories/deliveries/receiving.ts'
import { FileId, MessageId, ProjectId } from '../protocol/ids.ts'

/** What a person wrote. */
export const IncomingContent = z.object({
  text: z.string(),
  /** Whether the text is not the person's own. */
  isOutside: z.boolean(),
  /** What somebody else wrote, beside it. */
  quoted: z.string().default(''),
  senderName: z.string(),
  files: z.array(FileId),
  /** What could not be read of the files, for the person. */
  notes: z.array(z.string()),
  decision: z.object({ part: z.string(), choice: z.enum(['approve', 'reject']) }).nullable(),
  /** The question that it answers. */
  answers: z
    .object({ runId: z.string(), idRef: z.string(), callHash: z.string().nullable() })
    .optional(),
  /** What others wrote in the group before. */
  overheard: z.string().optional(),
})
/** What a person wrote. */
export type IncomingContent = z.infer<typeof IncomingContent>

/** The content of a stored message; null once it is in its conversation. */
export const contentOf = (row: Pick<IncomingRow, 'content'>): IncomingContent | null =>
  row.content === null ? null : IncomingContent.parse(row.content)

/** What a person has chosen for the next conversation of a chat. */
export const ChatChoice = z.object({
  projectId: z.string().nullable().optional(),
  model: z.string().nullable().optional(),
})
/** What a person has chosen for the next conversation of a chat. */
export type ChatChoice = z.infer<typeof ChatChoice>

/** A part of an answer, a request or a notice, as it is stored until it is sent. */
export const PartContent = z.discriminatedUnion('type', [
  /** `first`: the part that is replaced by a notice if the answer has become too old; the others are then left out. */
  z.object({ type: z.literal('answer'), text: z.string(), first: z.boolean() }),
  z.object({ type: z.literal('notice'), text: z.string() }),
  z.object({
    type: z.literal('file'),
    name: z.string(),
    mime: z.string(),
    from: z.union([
      z.object({ fileId: FileId }),
      z.object({ projectId: ProjectId, path: z.string() }),
    ]),
  }),
  z.object({
    type: z.literal('card'),
    runId: z.string(),
    idRef: z.string(),
    approvalId: z.string(),
    callHash: z.string(),
    name: z.string(),
    riskLevel: z.string(),
    preview: z.string(),
    text: z.string(),
    canApprove: z.boolean(),
  }),
  /** A question that a button answers: whether the project is restored to before this message. */
  z.object({
    type: z.literal('undo'),
    messageId: MessageId,
    projectId: ProjectId,
    text: z.string(),
  }),
  z.object({ type: z.literal('settled'), of: z.string(), text: z.string() }),
  z.object({ type: z.literal('end') }),
])
/** A part of an answer, a request or a notice, as it is stored until it is sent. */
export type PartContent = z.infer<typeof PartContent>

/** What is counted of messages. */
export type MessageOutcome =
  | 'accepted'
  | 'duplicate'
  | 'stranger'
  | 'ignored'
  | 'delivered'
  | 'failed'
  | 'expired'
/** Counts a message. */
export type Observe = (seen: {
  type: ChannelRow['type']
  direction: 'in' | 'out'
  outcome: MessageOutcome
}) => void
