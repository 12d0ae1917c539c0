// Documents of a project, their passages and the user's memory on the wire.
import { z } from 'zod'
import { MAX_INTEGER } from '../bounds.ts'
import { optional, PageQuery, page, Timestamp, withoutNul } from '../envelope.ts'
import { ErrorParams } from '../error.ts'

export const DocumentStatus = z.enum(['pending', 'ready', 'failed'])

/** A document of a project, with its reading status. */
export const Document = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Bytes of the file. */
    size: z.int(),
    status: DocumentStatus,
    /** For a person: why it failed, or what of a document that is ready could not be read. */
    error: z.string().nullable(),
    /** The machine-readable reason of `error`, as in error responses. */
    reason: z.string().nullable(),
    params: ErrorParams.nullable(),
    /** The number of indexed passages; grows while the document is pending. */
    passages: z.int(),
    /** The encoding that was found or chosen for a text, which another one can replace; null when there is no choice. */
    encoding: z.string().nullable(),
    /** The file of the project that it is and follows; null for an uploaded document. */
    path: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Document' })
export type Document = z.infer<typeof Document>

export const DocumentPage = page(Document)
export const DocumentListQuery = PageQuery.extend({
  without_file: z.enum(['true', 'false']).optional(),
})
/** A file of the project that becomes searchable. */
export const SearchableFileBody = z
  .object({ path: withoutNul(z.string().min(1).max(4096)) })
  .meta({ id: 'SearchableFile' })
export const UploadedDocuments = z.object({ items: z.array(Document) })

/** A passage and its position. Citations open passages. */
export const DocumentPassage = z
  .object({
    position: z.int(),
    heading: z.string().nullable(),
    page: z.int().nullable(),
    text: z.string(),
  })
  .meta({ id: 'DocumentPassage' })

export const PassageQuery = z.object({
  /** The first passage to return, from 0. */
  position: z.coerce.number().int().min(0).max(MAX_INTEGER).optional(),
  limit: z.coerce.number().int().min(1).max(50).optional(),
})
/** Passages of a document, in order. */
export const PassageList = z
  .object({ document: Document, items: z.array(DocumentPassage) })
  .meta({ id: 'PassageList' })

/** The user's `CONTEXT.md`. */
export const MemoryContent = z.object({ content: z.string() }).meta({ id: 'Memory' })
export const WriteMemoryBody = z
  .object({
    content: z.string(),
    /** The text that was read and edited. If absent, the current text is replaced, whatever it is. */
    base: optional(z.string()),
  })
  .meta({ id: 'WriteMemory' })
