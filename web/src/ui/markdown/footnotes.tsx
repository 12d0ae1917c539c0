// Footnotes of a text: listed at its end, linked both ways.
import { createContext, type MouseEvent, type ReactNode, useContext } from 'react'
import {
  FOOTNOTE_REFERENCE,
  type Footnote,
  type FootnoteNumbers,
} from '../../../../server/protocol/markdown/footnote-numbers.ts'
import { directionOfText } from '../../../../server/protocol/markdown/page-syntax.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

/** The footnotes that a text refers to and their numbers, serialized so that equal ones compare as equal; empty for none. */
export function numbersIn(text: string, numbers: FootnoteNumbers): string {
  if (numbers.size === 0 || !text.includes('[^')) return ''
  const used = new Set<string>()
  for (const found of text.matchAll(FOOTNOTE_REFERENCE)) used.add(found[1] ?? '')
  const entries = [...numbers].filter(([id]) => used.has(id))
  return entries.length === 0 ? '' : JSON.stringify(entries)
}

/** Parses the result of `numbersIn`. */
export const readNumbers = (numbers: string): FootnoteNumbers =>
  new Map(numbers === '' ? [] : JSON.parse(numbers))

/** The footnote numbers of the enclosing text, which renders the list of notes; null in the outermost text. */
export const EnclosingFootnotes = createContext<FootnoteNumbers | null>(null)

const goTo = (event: MouseEvent<HTMLElement>, selector: string): void => {
  const root = event.currentTarget.closest('[data-footnotes]')
  const target = root?.querySelector<HTMLElement>(selector)
  target?.scrollIntoView({ block: 'center' })
  target?.focus({ preventScroll: true })
}

/** The superscript number in the text: a link to the note if the note is `known`. */
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

/** The list of notes at the end of the outermost text. `children` renders the text of a note. */
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
      <ol dir={directionOfText(notes[0]?.text ?? '')}>
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
