// Footnotes of an answer: numbered across its blocks, listed at its end, linked both ways.
import { createContext, type MouseEvent, type ReactNode, useContext } from 'react'
import { useTranslation } from 'react-i18next'
import type { FootnoteNumbers } from './page-syntax.ts'
import type { Block } from './split-blocks.ts'

export type Footnote = { id: string; number: number; text: string }

const FOOTNOTE_REFERENCE = /\[\^([^\]\s]{1,100})\](?!:)/g

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

/** The numbers that a text refers to, as a string that changes only when they do; empty for none. */
export function numbersIn(text: string, numbers: FootnoteNumbers): string {
  if (numbers.size === 0 || !text.includes('[^')) return ''
  const used = new Set<string>()
  for (const found of text.matchAll(FOOTNOTE_REFERENCE)) used.add(found[1] ?? '')
  const entries = [...numbers].filter(([id]) => used.has(id))
  return entries.length === 0 ? '' : JSON.stringify(entries)
}

export const readNumbers = (numbers: string): FootnoteNumbers =>
  new Map(numbers === '' ? [] : JSON.parse(numbers))

/** The footnote numbers of the enclosing block, which draws their list; null where there is none. */
export const EnclosingFootnotes = createContext<FootnoteNumbers | null>(null)

const goTo = (event: MouseEvent<HTMLElement>, selector: string): void => {
  const root = event.currentTarget.closest('[data-footnotes]')
  const target = root?.querySelector<HTMLElement>(selector)
  target?.scrollIntoView({ block: 'center' })
  target?.focus({ preventScroll: true })
}

/** The superscript number in the text. */
export function FootnoteMark({ number, known }: { number: number; known: boolean }) {
  const { t } = useTranslation()
  if (!known) return <sup>{number}</sup>
  return (
    <sup>
      <button
        type="button"
        data-footnote-mark={number}
        aria-label={t('prose.footnote', { number })}
        className="footnote-mark"
        onClick={(event) => goTo(event, `[data-footnote="${number}"]`)}
      >
        {number}
      </button>
    </sup>
  )
}

export function FootnoteList({
  notes,
  children,
}: {
  notes: readonly Footnote[]
  children: (note: Footnote) => ReactNode
}) {
  const { t } = useTranslation()
  const enclosing = useContext(EnclosingFootnotes)
  if (notes.length === 0 || enclosing !== null) return null
  return (
    <section aria-label={t('prose.footnotes')} className="footnotes">
      <ol>
        {notes.map((note) => (
          <li key={note.id} value={note.number} data-footnote={note.number} tabIndex={-1}>
            {children(note)}
            <button
              type="button"
              className="footnote-mark"
              aria-label={t('prose.footnoteBack', { number: note.number })}
              onClick={(event) => goTo(event, `[data-footnote-mark="${note.number}"]`)}
            >
              ↩
            </button>
          </li>
        ))}
      </ol>
    </section>
  )
}
