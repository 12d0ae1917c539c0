// What the worker thread that renders Markdown receives.
import type { ProseTexts } from './prose-texts.ts'

/** A text in Markdown, with the words that its HTML needs. */
export interface RenderRequest {
  text: string
  texts: ProseTexts
  /** Whether its code is to be coloured, which may take long. */
  isColoured: boolean
}
