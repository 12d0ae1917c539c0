// What a language has to name in rendered Markdown. The page and shared copies use the same words.
import type { AlertKind } from '../markdown/page-syntax.ts'

/** The words of one language. */
export interface ProseNames {
  /** The titles of alerts (`> [!NOTE]`). */
  alert: Record<AlertKind, string>
  /** The title of a foldable section without a summary. */
  details: string
  /** The heading of the footnotes, for screen readers. */
  footnotes: string
}
