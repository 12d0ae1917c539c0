// A button above a selection in a message that quotes it into the composer.
import { TextQuote } from 'lucide-react'
import { type RefObject, useEffect, useState } from 'react'
import { insertIntoComposer } from '../../../lib/browser/composer-insert.ts'
import { watchSelection } from '../../../lib/browser/text-selection.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'

type Selected = { text: string; left: number; top: number }

/** The gap between the selection and the button, and the height of the button. */
const GAP_PIXELS = 8
const BUTTON_HEIGHT_PIXELS = 34
const SELECTION_PAUSE_MS = 200

const asQuote = (text: string): string =>
  `${text
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')}\n\n`

function readSelection(scroller: HTMLElement): Selected | null {
  const selection = getSelection()
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0)
  const { commonAncestorContainer: place } = range
  const element = place instanceof Element ? place : place.parentElement
  if (element?.closest('[data-message]') == null || !scroller.contains(element)) return null
  const text = selection.toString()
  const box = range.getBoundingClientRect()
  const frame = scroller.getBoundingClientRect()
  const isInView = box.bottom > frame.top && box.top < frame.bottom
  if (text.trim() === '' || !isInView) return null
  const above = box.top - BUTTON_HEIGHT_PIXELS - GAP_PIXELS
  return {
    text,
    left: Math.min(Math.max(box.left + box.width / 2, frame.left + 60), frame.right - 60),
    top: above < frame.top ? Math.min(box.bottom, frame.bottom) + GAP_PIXELS : above,
  }
}

/** `scroller` contains the messages; selections outside it are ignored. */
export function QuoteButton({ scroller }: { scroller: RefObject<HTMLElement | null> }) {
  const { t } = useTranslation()
  const [selected, setSelected] = useState<Selected | null>(null)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isSelected = false
    const updateSelection = (): void => {
      if (scroller.current !== null) setSelected(readSelection(scroller.current))
    }
    const onChange = (): void => {
      clearTimeout(timer)
      // The button disappears at once, but appears only when the selection has stopped changing.
      if (!isSelected) setSelected(null)
      else timer = setTimeout(updateSelection, SELECTION_PAUSE_MS)
    }
    const end = watchSelection((selection) => {
      isSelected = selection !== null
      onChange()
    })
    const element = scroller.current
    element?.addEventListener('scroll', onChange, { passive: true })
    return () => {
      clearTimeout(timer)
      end()
      element?.removeEventListener('scroll', onChange)
    }
  }, [scroller])
  if (selected === null) return null
  return (
    <button
      type="button"
      style={{ left: selected.left, top: selected.top }}
      className="fixed z-20 inline-flex h-8.5 -translate-x-1/2 animate-appear items-center gap-1.5 rounded-lg border border-line-strong bg-surface px-2.5 text-note font-medium text-soft shadow-float hover:bg-hover hover:text-ink"
      // A press must not clear the selection before the click.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => {
        insertIntoComposer(asQuote(selected.text))
        getSelection()?.removeAllRanges()
      }}
    >
      <TextQuote size={14} aria-hidden />
      {t('answer.quote')}
    </button>
  )
}
