// Shared copies of conversations on the wire.
import { z } from 'zod'
import { APP_KINDS } from '../app-kind.ts'
import { page, Timestamp } from '../envelope.ts'
import { ConversationId } from '../ids.ts'

/** What a share shows in addition to the texts of the conversation. */
export const ShareInclude = z.enum(['files', 'tools', 'thinking', 'apps'])
export type ShareInclude = z.infer<typeof ShareInclude>

/** How to share a conversation. For an existing share, an absent field keeps its value and `null` clears it. */
export const ShareBody = z
  .object({
    expires_at: Timestamp.nullish(),
    password: z.string().min(1).max(200).nullish(),
    include: z.array(ShareInclude).max(4).nullish(),
  })
  .meta({ id: 'ShareConversation' })
export type ShareBody = z.infer<typeof ShareBody>

/** A conversation's public link, as its owner sees it. */
export const Share = z
  .object({
    conversation_id: ConversationId,
    title: z.string(),
    /** Null, as `url`, if the secret key that it was sealed with is gone. Visitors still get in. */
    token: z.string().nullable(),
    url: z.string().nullable(),
    include: z.array(ShareInclude),
    has_password: z.boolean(),
    /** Number of times that its page was opened. */
    views: z.int(),
    created_at: Timestamp,
    /** When the shown copy was made. */
    renewed_at: Timestamp,
    expires_at: Timestamp.nullable(),
  })
  .meta({ id: 'Share' })
export type Share = z.infer<typeof Share>

export const SharePage = page(Share)

/** A step as visitors see it: without ids, and only of the kinds that the share includes. */
export const SharedStep = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['text', 'thinking']), content: z.string() }),
  z.object({ type: z.literal('tool_call'), name: z.string(), arguments: z.string() }),
  z.object({ type: z.literal('tool_result'), name: z.string(), content: z.string() }),
])
export type SharedStep = z.infer<typeof SharedStep>

/** A source that an answer cites; `number` is the one in its text. */
export const SharedSource = z.object({
  number: z.int(),
  title: z.string(),
  /** The site, or the place in the document. */
  place: z.string(),
  /** Absent for documents. */
  url: z.string().optional(),
})
export type SharedSource = z.infer<typeof SharedSource>

/** An app that is part of a copy. */
export const SharedApp = z.object({ path: z.string(), kind: z.enum(APP_KINDS) })

/** A message as visitors see it. The id of a file is its number within the share. */
export const SharedMessage = z.object({
  role: z.enum(['user', 'assistant']),
  created_at: Timestamp,
  /** What a user wrote; empty for an answer, which consists of steps. */
  text: z.string(),
  steps: z.array(SharedStep),
  files: z.array(z.object({ id: z.int(), name: z.string(), mime: z.string(), size: z.int() })),
  /** Apps that an answer wrote, as they were when the copy was made; absent if there are none. */
  apps: z.array(SharedApp).optional(),
  /** What an answer cites; absent if that is nothing. Documents are among them only with the share's tools. */
  sources: z.array(SharedSource).optional(),
})
export type SharedMessage = z.infer<typeof SharedMessage>

export const SharedConversation = z
  .object({
    title: z.string(),
    created_at: Timestamp,
    expires_at: Timestamp.nullable(),
    include: z.array(ShareInclude),
    messages: z.array(SharedMessage),
  })
  .meta({ id: 'SharedConversation' })
