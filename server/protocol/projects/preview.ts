// Previews of documents on the wire: their content without their layout.
import { z } from 'zod'
import { ErrorParams } from '../error.ts'

const heading = z.object({
  kind: z.literal('heading'),
  level: z.int().min(1).max(6),
  text: z.string(),
})
const paragraph = z.object({ kind: z.literal('paragraph'), text: z.string() })
/** An item of a list; `level` is the depth of the list, from 1. */
const item = z.object({ kind: z.literal('item'), level: z.int().min(1), text: z.string() })
const table = z.object({ kind: z.literal('table'), rows: z.array(z.array(z.string())) })

/** A part of a text document. */
export const PreviewBlock = z.discriminatedUnion('kind', [heading, paragraph, item, table])
export type PreviewBlock = z.infer<typeof PreviewBlock>

export const PreviewSheet = z.object({
  name: z.string(),
  rows: z.array(z.array(z.string())),
  /** The number of rows of the sheet, of which `rows` may be only the first. */
  total_rows: z.int(),
})
export const PreviewSlide = z.object({
  number: z.int(),
  /** A paragraph per line. */
  text: z.string(),
  /** What the speaker says; '' without notes. */
  notes: z.string(),
})
export const PreviewPage = z.object({ number: z.int(), text: z.string() })

/** What a document contains, by its kind. `truncated`: it contains more. */
export const DocumentPreview = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), blocks: z.array(PreviewBlock), truncated: z.boolean() }),
    z.object({ kind: z.literal('sheets'), sheets: z.array(PreviewSheet), truncated: z.boolean() }),
    z.object({ kind: z.literal('slides'), slides: z.array(PreviewSlide), truncated: z.boolean() }),
    z.object({ kind: z.literal('pages'), pages: z.array(PreviewPage), truncated: z.boolean() }),
  ])
  .meta({ id: 'DocumentPreview' })
export type DocumentPreview = z.infer<typeof DocumentPreview>

/** The preview of a file, or why there is none: for a person, and as reason and parameters for translations. */
export const FilePreview = z
  .object({
    preview: DocumentPreview.nullable(),
    error: z.string().nullable(),
    reason: z.string().nullable(),
    params: ErrorParams.nullable(),
  })
  .meta({ id: 'FilePreview' })
export type FilePreview = z.infer<typeof FilePreview>
