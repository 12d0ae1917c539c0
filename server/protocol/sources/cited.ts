// Which of its sources a text cites.
import { splitCitations } from '../markdown/citation-marks.ts'
import { type Source, sourceAt } from './source.ts'

const MARKDOWN_LINK = /\[[^\]\n]{0,300}\]{1,2}\((https?:\/\/[^)\s]+)[^)\n]{0,300}\)/g

/** The numbers of the sources that a text cites as `[1]` or as a link. */
export function citedIn(text: string, sources: readonly Source[]): ReadonlySet<number> {
  const numbers = new Set(
    splitCitations(text.replaceAll(MARKDOWN_LINK, ' '), sources.length).flatMap((piece) =>
      typeof piece === 'string' ? [] : piece,
    ),
  )
  for (const found of text.matchAll(MARKDOWN_LINK)) {
    const source = sourceAt(sources, found[1] ?? '')
    if (source !== undefined) numbers.add(source.number)
  }
  return numbers
}
