// Files on the wire: what users upload for their messages.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { FileId } from '../ids.ts'

/** An uploaded file. Its id goes into the `attachments` of a message. */
export const FileInfo = z
  .object({
    id: FileId,
    name: z.string(),
    /** Detected from the content. */
    mime: z.string(),
    /** Bytes of the stored content; metadata of images is removed. */
    size: z.int(),
    /** SHA-256 of the stored content, hexadecimal. */
    sha256: z.string(),
    width: z.int().optional(),
    height: z.int().optional(),
    /** Pages of a PDF, slides or sheets. */
    pages: z.int().optional(),
    /** Number of characters that models can read; absent for images. */
    characters: z.int().optional(),
    /** The encoding in which a text was read, by its name in the Encoding Standard; absent for other files. */
    encoding: z.string().optional(),
    /** Why no text, or not all of it, could be read from the document: for a person, and as reason and parameters for translations. */
    error: z.string().optional(),
    reason: z.string().optional(),
    params: ErrorParams.optional(),
    created_at: Timestamp,
  })
  .meta({ id: 'File' })
export type FileInfo = z.infer<typeof FileInfo>

/** The text that models and search read from a file. */
export const FileText = z
  .object({
    name: z.string(),
    /** Null for images and for documents without readable text. A line `[Page 7]` begins each page, slide or sheet. */
    text: z.string().nullable(),
    /** The encoding in which a text was read; null for other files, and for those read by an older version. */
    encoding: z.string().nullable(),
  })
  .meta({ id: 'ReadableText' })
export type FileText = z.infer<typeof FileText>

/** An encoding that a person has chosen for a text. */
export const EncodingChoice = z
  .object({
    /** A label of the Encoding Standard, such as `windows-1252`. */
    encoding: z.string().min(1).max(40),
  })
  .meta({ id: 'EncodingChoice' })
