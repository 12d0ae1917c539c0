// A piece of a document: the unit that is searched, cited and shown.
import { z } from 'zod'

/** A piece of a document that makes sense on its own, with its location in the document. */
export const Passage = z.object({
  /** The headings above it, outermost first, joined by ' > '; null when there are none. */
  heading: z.string().nullable(),
  /** Page of a PDF, from 1; null elsewhere. */
  page: z.int().min(1).nullable(),
  text: z.string().min(1),
})
/** A piece of a document that search can find. */
export type Passage = z.infer<typeof Passage>

/** Text under one heading (and on one page), before it is split. */
export interface Section {
  heading: string | null
  page: number | null
  text: string
}
