// The JSON form of one conversation: what an export writes and an import reads.
import { z } from 'zod'
import { optional, Timestamp } from '../envelope.ts'
import { ConversationId, MessageId, ProjectId } from '../ids.ts'
import { RunOrigin } from '../runs/origin.ts'
import { Plan } from '../runs/plan.ts'
import { Receipt } from '../runs/receipt.ts'
import { Step } from '../runs/step.ts'
import { Citation } from './citation.ts'
import { SystemPrompt, Tags, Temperature } from './conversation.ts'
import { Attachment, Feedback, MessageStatus } from './message.ts'

/** The format of an exported conversation. `md` and `html` contain the shown branch, `json` the whole conversation. */
export const ExportFormat = z.enum(['md', 'json', 'html'])
export type ExportFormat = z.infer<typeof ExportFormat>

/** The version of the JSON form. It changes only if older versions could no longer import it. */
export const EXPORT_VERSION = 1

/** Messages of one imported conversation. */
export const MAX_MESSAGES = 100_000
/** Steps of one message: far more than any run makes, and few enough to be read at once. */
const MAX_STEPS = 2_000

/** One message of an exported conversation, with its place in the tree. */
export const ExportedMessage = z.object({
  id: MessageId,
  parent_id: MessageId.nullable(),
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  token_count: z.int().min(0),
  model: z.string().max(200).nullable(),
  status: MessageStatus,
  error: z.string().nullable(),
  /** Absent: a person at the page. */
  origin: RunOrigin.optional(),
  created_at: Timestamp,
  attachments: z.array(Attachment).max(100),
  steps: z.array(Step).max(MAX_STEPS),
  /** The answer that a person edited into this one. */
  edited_from: MessageId.optional(),
  feedback: Feedback.optional(),
  /** What the answer did, as a copy. */
  receipt: Receipt.optional(),
  /** With `receipt`: whether the answer used a tool that can do harm. */
  acted: z.boolean().optional(),
  plan: Plan.optional(),
  citations: z.array(Citation).max(1_000).optional(),
})
export type ExportedMessage = z.infer<typeof ExportedMessage>

/** The settings of an exported conversation. */
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
  /** Its id on the exporting server; absent in older exports. */
  id: ConversationId.optional(),
  tags: Tags.default([]),
})
export type ExportedSettings = z.infer<typeof ExportedSettings>

/** One conversation with all its branches, steps and attachments; messages in the order of their creation. */
export const ExportedConversation = z
  .object({
    format: z.literal('nanoclaw'),
    version: z.literal(EXPORT_VERSION),
    conversation: ExportedSettings,
    messages: z.array(ExportedMessage).max(MAX_MESSAGES),
  })
  .meta({ id: 'ExportedConversation' })
export type ExportedConversation = z.infer<typeof ExportedConversation>

export const Imported = z.object({ id: ConversationId, messages: z.int() }).meta({ id: 'Imported' })

/** A file of a bundle, stored in it as `files/<sha256>`. */
export const BundledFile = z.object({
  name: z.string().min(1).max(255),
  mime: z.string().max(200),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

/** A conversation of a bundle: `conversations/<id>.json`. */
export const BundledConversation = ExportedConversation.extend({
  conversation: ExportedSettings.extend({
    /** Where it was imported from; null if it was written here. */
    origin: z.string().max(500).nullish(),
    project_id: ProjectId.nullish(),
  }),
  messages: z.array(
    ExportedMessage.extend({ attachments: z.array(z.union([BundledFile, Attachment])).max(100) }),
  ),
})
export type BundledConversation = z.infer<typeof BundledConversation>

/** The table of contents of a bundle: `manifest.json`. */
export const BundleManifest = z.object({
  format: z.literal('nanoclaw'),
  version: z.int().min(1),
  created_at: Timestamp,
  counts: z.object({
    conversations: z.int(),
    messages: z.int(),
    files: z.int(),
    projects: z.int(),
    documents: z.int(),
  }),
})
export type BundleManifest = z.infer<typeof BundleManifest>

/** `projects/<id>/project.json` of a bundle; the project's files are in `projects/<id>/files/`. */
export const BundledProject = z.object({
  name: z.string().trim().min(1).max(255),
  description: z.string().max(10_000).nullable(),
  created_at: Timestamp,
})

/** A passage of a document: a line of its own in the file. */
export const BundledPassage = z.object({
  heading: z.string().nullable(),
  page: z.int().min(0).max(1_000_000).nullable(),
  text: z.string(),
})
/** Passages of one document. */
export const MAX_PASSAGES = 100_000

/** `projects/<id>/documents/<id>.json` of a bundle: the text of a document, split into the passages that search finds. */
export const BundledDocument = z.object({
  name: z.string().min(1).max(255),
  mime: z.string().max(200),
  size: z.int().min(0),
  created_at: Timestamp,
  /** The file of the project that it is and follows. */
  path: optional(z.string().max(4096)),
  passages: z.array(BundledPassage).max(MAX_PASSAGES),
})
export type BundledDocument = z.infer<typeof BundledDocument>
