// The numbered sources of a text, for the chips in it.
import { createContext } from 'react'

/** A numbered source of a text, as its chip shows it. */
export type Citation = {
  number: number
  title: string
  /** Where it comes from: a site, or a place in a document. */
  place: string
  text?: string
  /** An http or https address; without one, `open` shows the source. */
  url?: string
  open?: () => void
}

/**
 * Finds the source of a number or an address in the text; undefined when the answer does not have
 * it.
 */
export type Citations = {
  /** Numbers from 1 to `count` are known. */
  count: number
  byNumber: (number: number) => Citation | undefined
  byUrl: (url: string) => Citation | undefined
}

/** The sources of the text around; null where there are none. */
export const CitationContext = createContext<Citations | null>(null)
