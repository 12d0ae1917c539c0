// Messages on the wire, and the request bodies that create them.
import { z } from 'zod'
import { optional, page, Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { CallId, FileId, MessageId, ProjectId, RunId } from '../ids.ts'
import { RunOrigin } from '../runs/origin.ts'
import { Plan } from '../runs/plan.ts'
import { ReceiptSummary } from '../runs/receipt.ts'
import { FinishReason, ReachedLimit } from '../runs/run-event.ts'
import { AnswerTiming } from '../runs/run-timeline.ts'
import { Step } from '../runs/step.ts'
import { Usage } from '../runs/usage.ts'
import { ShownCitation } from './citation.ts'
import { ApprovalDeadline, ApprovalMode } from './conversation.ts'

/** The status of an answer. User messages are always `completed`. */
export const MessageStatus = z.enum([
  'completed',
  'streaming',
  'awaiting_approval',
  'awaiting_input',
  'stopped',
  'failed',
  'interrupted',
])
export type MessageStatus = z.infer<typeof MessageStatus>
/** The statuses of an answer whose run has not ended. */
export const UNFINISHED_STATUSES: readonly MessageStatus[] = [
  'streaming',
  'awaiting_approval',
  'awaiting_input',
]

const FeedbackNote = z.string().trim().max(2_000)
/** A person's rating of an answer. */
export const Feedback = z
  .object({
    rating: z.enum(['up', 'down']),
    /** What was good or bad about it. */
    note: FeedbackNote.optional(),
  })
  .meta({ id: 'Feedback' })
export type Feedback = z.infer<typeof Feedback>
/** `null` removes the rating. */
export const SetFeedbackBody = z
  .object({ feedback: Feedback.extend({ note: optional(FeedbackNote) }).nullable() })
  .meta({ id: 'SetFeedback' })

/** A text that is part of the message itself, not an uploaded file. */
export const TextAttachment = z.object({
  name: z.string().min(1).max(255),
  extension: optional(z.string().max(50)),
  content: z.string(),
})
export const ImageAttachment = z.object({
  name: z.string().min(1).max(255),
  mime: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
  data: z.base64(),
})
export type TextAttachment = z.infer<typeof TextAttachment>
/** Content that is sent with the message. Upload large content first and refer to it by id. */
export const Attachment = z.union([ImageAttachment, TextAttachment]).meta({ id: 'Attachment' })
export type Attachment = z.infer<typeof Attachment>

/** A file that was uploaded to `/api/files`. */
export const FileAttachment = z.object({ file_id: FileId })
/** An attachment of a new message: the id of an uploaded file, or content inside the message. */
export const NewAttachment = z.union([FileAttachment, Attachment]).meta({ id: 'NewAttachment' })
export type NewAttachment = z.infer<typeof NewAttachment>

/** An attachment in a response: its metadata and the path of its content, never the content itself. */
export const StoredAttachment = z
  .object({
    /** Absent while the content of an attachment from an earlier version is still being moved. */
    file_id: FileId.optional(),
    name: z.string(),
    /** `text/plain` for text. */
    mime: z.string(),
    /** Bytes of the file. */
    size: z.int(),
    extension: z.string().optional(),
    width: z.int().optional(),
    height: z.int().optional(),
    /** Pages of a PDF, slides or sheets. */
    pages: z.int().optional(),
    /** Why no text, or not all of it, could be read from the file: for a person, and as reason and parameters for translations. */
    error: z.string().optional(),
    reason: z.string().optional(),
    params: ErrorParams.optional(),
    /** The project's document that was created because the file is too large for the model's context window. */
    document: z.object({ id: z.string(), project_id: ProjectId }).optional(),
    /** Path of the content on this server; needs the same authentication as any other route. */
    url: z.string(),
  })
  .meta({ id: 'StoredAttachment' })
export type StoredAttachment = z.infer<typeof StoredAttachment>

/** The tool calls of an answer in OpenAI format, derived from its steps. */
export const MessageToolCall = z.object({
  id: CallId,
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
  result: z.string().nullable(),
})

/** One node of the conversation tree. An answer consists of its `process_steps`; `text` is the text in them. */
export const Message = z
  .object({
    id: MessageId,
    role: z.enum(['user', 'assistant']),
    text: z.string(),
    attachments: z.array(StoredAttachment).optional(),
    tool_calls: z.array(MessageToolCall).optional(),
    process_steps: z.array(Step).optional(),
    token_count: z.int(),
    /** Tokens and cost of the run that wrote the answer; null if there are none. */
    usage: Usage.nullable().optional(),
    /** How long the run took; null for answers from before this was stored. */
    timing: AnswerTiming.nullable().optional(),
    model: z.string().nullable().optional(),
    /** Folded: its run found nothing that a person has to read. */
    quiet: z.boolean().optional(),
    run_id: RunId.nullable().optional(),
    parent_id: MessageId.nullable(),
    siblings: z.array(MessageId),
    status: MessageStatus,
    /** Why the answer failed, for a person; null if it did not. */
    error: z.string().nullable().optional(),
    /** The machine-readable reason, and the parameters of the text. */
    error_code: z.string().nullable().optional(),
    /** More specific than `error_code`: `reason` of error responses. */
    error_reason: z.string().nullable().optional(),
    error_params: ErrorParams.nullable().optional(),
    /** Why its run ended. After `max_iterations` and `budget`, the run can be resumed, unless its limit is `complete`. */
    finish_reason: FinishReason.nullable().optional(),
    /** The limit that ended its run with `budget`, and when it is renewed. */
    limit: ReachedLimit.nullable().optional(),
    /** The answer that a person edited into this one. */
    edited_from: MessageId.optional(),
    feedback: Feedback.optional(),
    /** What an answer with tool calls did, in numbers; `/receipt` has the rest. Absent while it is written. */
    receipt: ReceiptSummary.optional(),
    /** The plan that the answer follows; absent if it has none. */
    plan: Plan.optional(),
    /** The passages that the answer refers to as `[c1]`, `[c2]`, …; absent if it cites none. */
    citations: z.array(ShownCitation).optional(),
    /** References like `[c9]` in the answer to which no citation belongs; absent if there are none. */
    unknown_citations: z.array(z.string()).optional(),
    /** What sent the message, or started its run. */
    origin: RunOrigin,
    created_at: Timestamp,
  })
  .meta({ id: 'Message' })
export type Message = z.infer<typeof Message>

export const MessagePage = page(Message)

/** Which text events contain. `cumulative`: the whole text of their step so far; `delta`: only what was added. */
export const StreamMode = z.enum(['cumulative', 'delta'])
export type StreamMode = z.infer<typeof StreamMode>

/**
 * What happens to a run without listeners. `grace`: it stops after `stream.disconnect_grace`; `stop`: at once; `continue`:
 * never.
 */
export const OnDisconnect = z.enum(['grace', 'stop', 'continue'])
export type OnDisconnect = z.infer<typeof OnDisconnect>

/** Whether the model may, must not or must call tools, or which tool it must call; as in OpenAI's API. */
export const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({
    type: z.literal('function'),
    function: z.object({ name: z.string().min(1).max(200) }),
  }),
])
export type ToolChoice = z.infer<typeof ToolChoice>

/** Options of a run and its stream, shared by send, edit and regenerate. */
const runOptions = {
  tools_enabled: optional(z.boolean()),
  project_id: optional(ProjectId),
  model: optional(z.string().min(1).max(200)),
  stream: optional(z.boolean()),
  stream_mode: optional(StreamMode),
  tool_choice: optional(ToolChoice),
  approval: optional(ApprovalMode),
  /** Instead of the conversation's; null: no deadline. */
  approval_deadline: ApprovalDeadline.nullish(),
  on_disconnect: optional(OnDisconnect),
  skills: optional(z.array(z.string().min(1).max(64)).max(5)),
  client_id: optional(z.string().min(1).max(64)),
}

/**
 * The options of another answer to the same message. `beside`: it is written while another answer to this message is, and does
 * not take its place in the conversation.
 */
export const RegenerateBody = z
  .object({ ...runOptions, beside: optional(z.boolean()) })
  .meta({ id: 'Regenerate' })
export type RegenerateBody = z.infer<typeof RegenerateBody>

/** The new text of an answer. */
export const ReviseAnswerBody = z
  .object({ text: z.string().refine((text) => text.trim() !== '', 'must not be empty') })
  .meta({ id: 'ReviseAnswer' })

const content = {
  text: optional(z.string()),
  attachments: optional(z.array(NewAttachment).max(20)),
}
const hasContent = (body: { text?: string | undefined; attachments?: unknown[] | undefined }) =>
  (body.text?.trim() ?? '') !== '' || (body.attachments?.length ?? 0) > 0

/** A new message, and the options of the run that answers it. */
export const SendMessageBody = z
  .object({ ...content, ...runOptions, parent_id: optional(MessageId) })
  .refine(hasContent, { error: '`text` or `attachments` is required', path: ['text'] })
  .meta({ id: 'SendMessage' })
export type SendMessageBody = z.infer<typeof SendMessageBody>

/**
 * The new version of a user message, and the options of the run that answers it. Without `attachments`, it keeps those of
 * the message.
 */
export const EditMessageBody = z
  .object({ ...content, ...runOptions })
  .refine(hasContent, { error: '`text` or `attachments` is required', path: ['text'] })
  .meta({ id: 'EditMessage' })
export type EditMessageBody = z.infer<typeof EditMessageBody>
