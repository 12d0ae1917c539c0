// The numbers of the footnotes of a text, across its blocks.
import type { Block } from './split-blocks.ts'

/** A footnote that is listed at the end of its text. */
export type Footnote = { id: string; number: number; text: string }

/** The footnotes that a block may refer to, by name: their number, and whether there is a definition to go to. */
export type FootnoteNumbers = ReadonlyMap<string, { number: number; known: boolean }>

/** A mark in the text, not the beginning of a definition. */
export const FOOTNOTE_REFERENCE = /\[\^([^\]\s]{1,100})\](?!:)/g

/** The same object for every text without footnotes, so that its parts need not be drawn again as it grows. */
const NO_FOOTNOTES = { numbers: new Map<string, never>(), list: [] }

/**
 * Numbers footnotes in the order of their first reference; definitions without a reference come last.
 * `growing`: definitions may still arrive, so a reference without one already counts.
 */
export function numberFootnotes(
  text: string,
  blocks: readonly Block[],
  growing: boolean,
): { numbers: FootnoteNumbers; list: readonly Footnote[] } {
  if (!text.includes('[^')) return NO_FOOTNOTES
  const numbers = new Map<string, { number: number; known: boolean }>()
  const list: Footnote[] = []
  const texts = new Map<string, string>()
  for (const block of blocks)
    if (block.kind === 'footnote' && !texts.has(block.id)) texts.set(block.id, block.text)
  const add = (id: string): void => {
    if (numbers.has(id)) return
    const note = texts.get(id)
    if (note === undefined && !(growing && /^\d+$/.test(id))) return
    const number = numbers.size + 1
    numbers.set(id, { number, known: note !== undefined })
    if (note !== undefined) list.push({ id, number, text: note })
  }
  for (const block of blocks)
    if (block.kind === 'markdown' || block.kind === 'details')
      for (const found of block.text.matchAll(FOOTNOTE_REFERENCE)) add(found[1] ?? '')
  for (const id of texts.keys()) add(id)
  return { numbers, list }
}
