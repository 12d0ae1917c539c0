// The JSON form of one conversation: what an export writes and an import reads.
import { z } from 'zod'
import { SystemPrompt, Temperature } from './conversation.ts'
import { Timestamp } from './envelope.ts'
import { ConversationId, MessageId } from './ids.ts'
import { Attachment, MessageStatus } from './message.ts'
import { Step } from './step.ts'

/** `md` and `html` contain the shown branch, `json` the whole conversation. */
export const ExportFormat = z.enum(['md', 'json', 'html'])
export type ExportFormat = z.infer<typeof ExportFormat>

/** The version of the JSON form. It changes only when an older import could not read it. */
export const EXPORT_VERSION = 1

export const ExportedMessage = z.object({
  id: MessageId,
  parent_id: MessageId.nullable(),
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  token_count: z.int().min(0),
  model: z.string().max(200).nullable(),
  status: MessageStatus,
  error: z.string().nullable(),
  created_at: Timestamp,
  attachments: z.array(Attachment).max(100),
  steps: z.array(Step),
})
export type ExportedMessage = z.infer<typeof ExportedMessage>

export const ExportedSettings = z.object({
  title: z.string().trim().max(255),
  model: z.string().max(200).nullable(),
  system_prompt: SystemPrompt.nullable(),
  temperature: Temperature.nullable(),
  max_tokens: z.int().min(1).nullable(),
  thinking_enabled: z.boolean(),
  pinned: z.boolean(),
  archived: z.boolean(),
  /** The message whose branch is shown. */
  leaf_id: MessageId.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type ExportedSettings = z.infer<typeof ExportedSettings>

/** One conversation with all its branches, steps and attachments; messages in the order of their creation. */
export const ExportedConversation = z
  .object({
    format: z.literal('nanoclaw'),
    version: z.literal(EXPORT_VERSION),
    conversation: ExportedSettings,
    messages: z.array(ExportedMessage).max(100_000),
  })
  .meta({ id: 'ExportedConversation' })
export type ExportedConversation = z.infer<typeof ExportedConversation>

export const Imported = z.object({ id: ConversationId, messages: z.int() }).meta({ id: 'Imported' })
