// Splits sections into passages along their structure: paragraphs first, then lines, then sentences.
import type { Passage, Section } from './passage.ts'

/** Characters. About one screen of text: enough to answer from, small enough that five fit into a prompt. */
const LONGEST = 1_200
/** A remainder shorter than this joins the previous passage of the same heading and page. */
const SHORTEST = 200

/**
 * Passages of at most 1,200 characters, in order, none empty. A passage only spans sections with the same heading and
 * page; a paragraph is only split when it alone is too long.
 */
export function cutIntoPassages(sections: Iterable<Section>): Passage[] {
  const passages: Passage[] = []
  for (const section of sections) {
    const pieces: string[] = []
    let current = ''
    for (const unit of unitsOf(section.text)) {
      if (current !== '' && current.length + 2 + unit.length > LONGEST) {
        pieces.push(current)
        current = ''
      }
      current = current === '' ? unit : `${current}\n\n${unit}`
    }
    const last = pieces.at(-1)
    if (
      current.length < SHORTEST &&
      last !== undefined &&
      last.length + current.length < LONGEST * 1.2
    )
      pieces[pieces.length - 1] = `${last}\n\n${current}`
    else pieces.push(current)
    for (const text of pieces)
      if (text.trim() !== '')
        passages.push({ heading: section.heading, page: section.page, text: text.trim() })
  }
  return passages
}

/** Paragraphs, each within the limit. */
function* unitsOf(text: string): Generator<string> {
  for (const paragraph of text.split(/\n[ \t]*\n/)) {
    const trimmed = paragraph.trim()
    if (trimmed !== '') yield* shorten(trimmed, 0)
  }
}

/** From coarse to fine: lines, sentences (Western and Chinese), words, and finally anywhere. */
const seams: readonly RegExp[] = [/(?<=\n)/, /(?<=[.!?…]\s)|(?<=[。！？；])/, /(?<=\s|，|、)/]

function* shorten(text: string, level: number): Generator<string> {
  if (text.length <= LONGEST) return yield text
  const seam = seams[level]
  if (seam === undefined) {
    for (let start = 0; start < text.length; ) {
      let end = Math.min(start + LONGEST, text.length)
      // Never between the halves of a surrogate pair.
      if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1
      yield text.slice(start, end)
      start = end
    }
    return
  }
  let current = ''
  for (const part of text.split(seam)) {
    if (current !== '' && current.length + part.length > LONGEST) {
      yield current.trim()
      current = ''
    }
    if (part.length > LONGEST) yield* shorten(part, level + 1)
    else current += part
  }
  if (current.trim() !== '') yield current.trim()
}
