// The words that shared copies add to Markdown, in every language of documents.
import { localeTexts } from '../lib/locale-texts.ts'
import type { AlertKind } from '../protocol/markdown/page-syntax.ts'
import { type DocumentLanguage, folderOf } from './document-texts.ts'

/** The words that Markdown leaves to the renderer, in one language. The page has the same in its area `prose`. */
export interface ProseTexts {
  /** The titles of alerts (`> [!NOTE]`). */
  alert: Readonly<Record<AlertKind, string>>
  /** The title of a foldable section without a summary. */
  details: string
  /** The heading of the footnotes, for screen readers. */
  footnotes: string
  /** The name of the link from a footnote to its mark. */
  back: string
}

/** The words in the language of a document. */
export function proseTexts(language: DocumentLanguage): ProseTexts {
  const { alert, details, footnotes } = localeTexts(folderOf(language), 'prose').prose
  const { back } = localeTexts(folderOf(language), 'documents')
  return { alert, details, footnotes, back }
}
