// What the worker thread that renders Markdown receives.
import type { ProseTexts } from './prose-texts.ts'

/** A source that a text cites by its number; `url`: where it can be opened. */
export interface CitedSource {
  number: number
  url?: string | undefined
}

/** A text in Markdown, with the words that its HTML needs. */
export interface MarkdownText {
  text: string
  texts: ProseTexts
  /** Whether diagrams become frames of this server; otherwise they stay code. */
  hasFrames: boolean
  /** What `[1]` stands for; other numbers in brackets stay as written. */
  sources: readonly CitedSource[]
}

/** One attempt to render a text. */
export interface RenderRequest extends MarkdownText {
  /** Whether its code is to be coloured, which may take long. */
  isColoured: boolean
}
