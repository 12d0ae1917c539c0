// Splits sections into passages along their structure: paragraphs first, then lines, then sentences.
import type { Passage, Section } from '../passage.ts'

/** About one screen of text: enough to answer from, small enough that five fit into a prompt. */
const MAX_PASSAGE_CHARACTERS = 1_200
/** A remainder shorter than this joins the previous passage of the same heading and page. */
const MIN_PASSAGE_CHARACTERS = 200

/**
 * Splits sections into passages of at most 1,200 characters, in order, none empty. Only a short remainder at the end of a
 * section may make its last passage up to a fifth longer. A paragraph is only split when it is too long on its own.
 */
export function cutIntoPassages(sections: Iterable<Section>): Passage[] {
  const passages: Passage[] = []
  for (const section of sections) {
    const pieces: string[] = []
    let current = ''
    for (const unit of unitsOf(section.text)) {
      if (current !== '' && current.length + 2 + unit.length > MAX_PASSAGE_CHARACTERS) {
        pieces.push(current)
        current = ''
      }
      current = current === '' ? unit : `${current}\n\n${unit}`
    }
    const last = pieces.at(-1)
    if (
      current.length < MIN_PASSAGE_CHARACTERS &&
      last !== undefined &&
      last.length + current.length < MAX_PASSAGE_CHARACTERS * 1.2
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
    if (trimmed !== '') yield* splitToFit(trimmed, 0)
  }
}

/** Where to split, from coarse to fine: lines, sentences (Western and Chinese), words, and finally anywhere. */
const BOUNDARIES: readonly RegExp[] = [/(?<=\n)/, /(?<=[.!?…]\s)|(?<=[。！？；])/, /(?<=\s|，|、)/]

function* splitToFit(text: string, level: number): Generator<string> {
  if (text.length <= MAX_PASSAGE_CHARACTERS) return yield text
  const boundary = BOUNDARIES[level]
  if (boundary === undefined) {
    for (let start = 0; start < text.length; ) {
      let end = Math.min(start + MAX_PASSAGE_CHARACTERS, text.length)
      // Never split a surrogate pair.
      if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1
      yield text.slice(start, end)
      start = end
    }
    return
  }
  let current = ''
  for (const part of text.split(boundary)) {
    if (current !== '' && current.length + part.length > MAX_PASSAGE_CHARACTERS) {
      yield current.trim()
      current = ''
    }
    if (part.length > MAX_PASSAGE_CHARACTERS) yield* splitToFit(part, level + 1)
    else current += part
  }
  if (current.trim() !== '') yield current.trim()
}
