// The contexts that give a text its numbered sources and its quotes, to which it refers as `[1]` and `[c1]`.
import { createContext } from 'react'

/** A numbered source as its chip shows it. */
export type Citation = {
  number: number
  title: string
  /** The origin of the source: a site, or a place in a document. */
  place: string
  text?: string
  /** The http or https URL of a web source; for others, `open` shows the source. */
  url?: string
  open?: () => void
}

/** Looks up the sources of a text; undefined if it has no such source. */
export type Citations = {
  /** The number of sources, which are numbered from 1. */
  count: number
  byNumber: (number: number) => Citation | undefined
  byUrl: (url: string) => Citation | undefined
}

/** The sources of the surrounding text; null if it has none. */
export const CitationContext = createContext<Citations | null>(null)

/** The quotes of a text, by the id that it names in brackets. */
export type Quotes = {
  /** The title of what a quote was taken from; undefined if the text has no such quote. */
  titleOf: (id: string) => string | undefined
  open: (id: string) => void
}

/** The quotes of the surrounding text; null if it has none. */
export const QuoteContext = createContext<Quotes | null>(null)
