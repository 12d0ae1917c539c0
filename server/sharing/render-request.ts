// What the worker thread that renders Markdown receives.
import type { ProseTexts } from './prose-texts.ts'

/** A text in Markdown, with the words that its HTML needs. */
export interface MarkdownText {
  text: string
  texts: ProseTexts
  /** Whether diagrams become frames of this server; otherwise they stay code. */
  hasFrames: boolean
}

/** One attempt to render a text. */
export interface RenderRequest extends MarkdownText {
  /** Whether its code is to be coloured, which may take long. */
  isColoured: boolean
}
