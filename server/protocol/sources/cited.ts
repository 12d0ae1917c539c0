// Which of its sources a text cites.
import { splitCitations } from '../markdown/citation-marks.ts'
import { addressKey, type Source } from './source.ts'

/**
 * A link and its address. Takes time in proportion to any text, also one that is made to take long: no label contains the
 * beginning of another one, and what no bracket closes matches, too, without the second group.
 */
const MARKDOWN_LINK =
  /\[[^\][\n]{0,300}\]{1,2}\((https?:\/\/[^)\s]+)((?:[^\S\n][^)\n]{0,300})?\))?/g

/** The numbers of the sources that a text cites as `[1]` or as a link. */
export function citedIn(text: string, sources: readonly Source[]): ReadonlySet<number> {
  const numbers = new Set(
    splitCitations(text.replaceAll(MARKDOWN_LINK, ' '), sources.length).flatMap((piece) =>
      typeof piece === 'string' ? [] : piece,
    ),
  )
  const byAddress = new Map<string, number>()
  for (const source of sources)
    if (source.kind === 'web') byAddress.set(addressKey(source.url), source.number)
  for (const [, url = '', end] of text.matchAll(MARKDOWN_LINK)) {
    if (end === undefined || !URL.canParse(url)) continue
    const number = byAddress.get(addressKey(url))
    if (number !== undefined) numbers.add(number)
  }
  return numbers
}
