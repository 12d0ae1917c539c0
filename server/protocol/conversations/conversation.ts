// Conversations on the wire.
import { z } from 'zod'
import { TokenCount } from '../bounds.ts'
import { optional, PageQuery, page, Timestamp } from '../envelope.ts'
import { ConversationId, MessageId, ProjectId, RunId } from '../ids.ts'

/**
 * Which tool calls wait for a person. `ask`: those of medium and high risk; `auto_medium`: only those of high risk; `auto`:
 * none.
 */
export const ApprovalMode = z.enum(['ask', 'auto_medium', 'auto'])
export type ApprovalMode = z.infer<typeof ApprovalMode>

/** Seconds after which a request for a decision expires. */
export const ApprovalDeadline = z.int().min(5).max(2_592_000)

export const Temperature = z.number().min(0).max(2)
/** If empty, a title is generated after the first answer. */
export const Title = z.string().trim().max(255)
export const SystemPrompt = z.string().max(100_000)

/** A label by which users sort conversations. */
export const Tag = z.string().trim().min(1).max(50)
/** Removes duplicates, ignoring case. */
export const Tags = z
  .array(Tag)
  .max(20)
  .transform((tags) => {
    const known = new Map(tags.map((tag) => [tag.normalize('NFKC').toLowerCase(), tag]))
    return [...known.values()]
  })

/** The chat of a messenger to which a conversation belongs. Names are those at the time of its first message. */
export const ConversationChannel = z
  .object({ id: z.string(), name: z.string(), type: z.string(), chat_name: z.string() })
  .meta({ id: 'ConversationChannel' })
export type ConversationChannel = z.infer<typeof ConversationChannel>

/** A conversation without its messages. `null` settings are those of the project or the server. */
export const Conversation = z
  .object({
    id: ConversationId,
    title: z.string(),
    model: z.string().nullable(),
    project_id: ProjectId.nullable(),
    project_name: z.string().nullable(),
    /** The project with the files of this conversation alone; null before the first. */
    scratch_project_id: ProjectId.nullable(),
    system_prompt: z.string().nullable(),
    temperature: z.number().nullable(),
    max_tokens: z.int().nullable(),
    thinking_enabled: z.boolean(),
    approval: ApprovalMode.nullable(),
    /** Seconds after which a request for a decision expires; null: none does. */
    approval_deadline: z.int().nullable(),
    /** MCP servers switched off in this conversation, by name. */
    disabled_mcp_servers: z.array(z.string()),
    pinned: z.boolean(),
    /** Its position among the pinned conversations; null for one above all that have a position. */
    pin_position: z.int().nullable(),
    archived: z.boolean(),
    leaf_id: MessageId.nullable(),
    message_count: z.int(),
    active_run_id: RunId.nullable(),
    /** `awaiting_approval` or `awaiting_input` when the active run, or the one beside it, waits for a person. */
    active_run_status: z.string().nullable(),
    /** The run that writes a second answer to the same question while `active_run_id` writes one; null if there is none. */
    beside_run_id: RunId.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    /** When it was moved to the trash; null if it was not. */
    deleted_at: Timestamp.nullable(),
    /** Whether it is in no list and is removed soon after its run has ended. */
    temporary: z.boolean(),
    tags: z.array(z.string()),
    /** The schedule that made it; absent if a person did. */
    schedule_id: z.string().optional(),
    /** The chat of a messenger to which it belongs; absent: none. */
    channel: ConversationChannel.optional(),
  })
  .meta({ id: 'Conversation' })
export type Conversation = z.infer<typeof Conversation>

export const ConversationPage = page(Conversation)

export const ConversationListQuery = PageQuery.extend({
  project_id: ProjectId.optional(),
  q: z.string().max(200).optional(),
  archived: z.enum(['true', 'false']).optional(),
  /** Filters by pinned state. */
  pinned: z.enum(['true', 'false']).optional(),
  /** `true`: lists the trash, last deleted first, and ignores `archived`. */
  trashed: z.enum(['true', 'false']).optional(),
  /** Lists only conversations with this tag. */
  tag: Tag.optional(),
})

const settings = {
  model: optional(z.string().min(1).max(200)),
  project_id: optional(ProjectId),
  system_prompt: optional(SystemPrompt),
  temperature: optional(Temperature),
  max_tokens: optional(TokenCount),
  thinking_enabled: optional(z.boolean()),
  approval: optional(ApprovalMode),
  approval_deadline: optional(ApprovalDeadline),
  disabled_mcp_servers: optional(z.array(z.string().max(100)).max(100)),
}

/** The initial values of a new conversation. Every field is optional. */
export const CreateConversationBody = z
  .object({
    title: optional(Title),
    temporary: optional(z.boolean()),
    tags: optional(Tags),
    ...settings,
  })
  .meta({ id: 'CreateConversation' })
export type CreateConversationBody = z.infer<typeof CreateConversationBody>

/** Changes of a conversation. `null` clears a field that can be cleared; an absent field stays unchanged. */
export const PatchConversationBody = z
  .object({
    title: optional(Title),
    model: z.string().min(1).max(200).nullish(),
    project_id: ProjectId.nullish(),
    system_prompt: SystemPrompt.nullish(),
    temperature: Temperature.nullish(),
    max_tokens: TokenCount.nullish(),
    thinking_enabled: optional(z.boolean()),
    approval: ApprovalMode.nullish(),
    approval_deadline: ApprovalDeadline.nullish(),
    disabled_mcp_servers: optional(z.array(z.string().max(100)).max(100)),
    pinned: optional(z.boolean()),
    archived: optional(z.boolean()),
    leaf_id: optional(MessageId),
    /** Replaces all tags. */
    tags: optional(Tags),
  })
  .meta({ id: 'PatchConversation' })
export type PatchConversationBody = z.infer<typeof PatchConversationBody>

/** What to do with several conversations at once. `delete`: move to the trash. */
export const BulkAction = z.enum([
  'archive',
  'unarchive',
  'pin',
  'unpin',
  'delete',
  'restore',
  'delete_permanently',
])
export type BulkAction = z.infer<typeof BulkAction>

export const BulkBody = z
  .object({ ids: z.array(ConversationId).min(1).max(100), action: BulkAction })
  .meta({ id: 'BulkConversations' })

/** The conversations that were changed, and those that the user does not have, or no longer has. */
export const BulkResult = z
  .object({ changed: z.array(ConversationId), not_found: z.array(ConversationId) })
  .meta({ id: 'BulkResult' })

/** All pinned conversations, from top to bottom. */
export const PinOrderBody = z
  .object({ ids: z.array(ConversationId).min(1).max(200) })
  .meta({ id: 'PinOrder' })

/** A tag and how many conversations outside the trash have it. */
export const TagCount = z.object({ tag: z.string(), count: z.int() })
export const TagList = z.object({ items: z.array(TagCount) }).meta({ id: 'TagList' })
