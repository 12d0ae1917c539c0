// Citations: quotes of an answer that the server has found in what the answer's tools read.
import { z } from 'zod'

/** A quote and where it stands. The answer refers to it as `[c1]`. */
export const Citation = z
  .object({
    /** `c` and a number that counts up in the conversation. The same passage keeps its id. */
    id: z.templateLiteral(['c', z.int().min(1)]),
    /** As the model named it: a tool call, a result handle, `document:<id>` or the path of a file. */
    source: z.string(),
    title: z.string(),
    url: z.string().optional(),
    document_id: z.string().optional(),
    page: z.int().optional(),
    /** As it stands in the source. */
    quote: z.string(),
    /** UTF-16 positions of the quote in the source's text. */
    start: z.int().min(0),
    end: z.int().min(0),
    /** Up to 500 characters of the source before and behind the quote. */
    before: z.string(),
    after: z.string(),
  })
  .meta({ id: 'StoredCitation' })
export type Citation = z.infer<typeof Citation>

/** A citation as messages carry it: without the text around the quote. */
export const ShownCitation = Citation.omit({ before: true, after: true }).meta({ id: 'Citation' })
export type ShownCitation = z.infer<typeof ShownCitation>

/** The passage that a citation opens. */
export const CitedPassage = Citation.extend({
  /** The quote with up to 500 characters of the source on each side. */
  passage: z.string(),
}).meta({ id: 'CitedPassage' })
