// The search over a user's conversations and documents on the wire.
import { z } from 'zod'
import { PageQuery, page, Timestamp } from '../envelope.ts'
import { ConversationId, FileId, MessageId, ProjectId } from '../ids.ts'

/** The kind of text that a search looks in. */
export const SearchType = z.enum(['title', 'message', 'tool', 'file', 'document'])
export type SearchType = z.infer<typeof SearchType>

export const SearchQueryString = PageQuery.extend({
  /** Words, `"phrases"`, `-excluded`, `in:project`, `tag:name`, `by:me`, `has:file`. */
  q: z.string().trim().min(1).max(500),
  type: SearchType.optional(),
  project_id: ProjectId.optional(),
  conversation_id: ConversationId.optional(),
  /** Only hits created at this time or later. */
  from: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
  /** Only hits created before this time. */
  to: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
})

/** A search hit, with what the page needs to open it. */
export const SearchHit = z
  .object({
    type: SearchType,
    /** Null for a document, which belongs to a project only. */
    conversation_id: ConversationId.nullable(),
    message_id: MessageId.optional(),
    /** The step of an answer that contains the words. */
    step_id: z.string().optional(),
    /** The attached file that contains the words. */
    file_id: FileId.optional(),
    /** The name of this file. */
    file_name: z.string().optional(),
    /** The document of a project that contains the words. */
    document_id: z.string().optional(),
    /** Position of the passage in its document. */
    passage: z.int().optional(),
    /** Page of the file or document. */
    page: z.int().optional(),
    /** Title of the conversation, or name of the document. */
    title: z.string(),
    /** HTML: escaped text with each hit in `<mark>`. */
    snippet: z.string(),
    role: z.enum(['user', 'assistant']).optional(),
    project_id: ProjectId.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'SearchHit' })
export type SearchHit = z.infer<typeof SearchHit>

/** A page of hits, best first. */
export const SearchPage = page(SearchHit)
  .extend({
    /** The share of the stored messages that is indexed, from 0 to 1; below 1 while older messages are being indexed. */
    indexed: z.number().min(0).max(1),
  })
  .meta({ id: 'SearchPage' })
