// Keyboard control of the file tree: one tab stop, arrows, Home, End, and the first letters of a name.
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { shownDirection } from '../../lib/i18n/direction.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { moveOf, type Row, rowStartingWith } from './file-rows.ts'

/** After a longer pause, a letter begins a new name. */
const TYPING_PAUSE_MS = 700

/** Excludes `/` and `?`, which are shortcuts of the page. */
const NAME_CHARACTER = /^[\p{L}\p{N}._-]$/u

/** The selector of the row that Tab reaches. */
export const TREE_STOP = '[role="treeitem"][tabindex="0"]'

/**
 * `active` is the path of the open file. `stop` is the row that Tab reaches: the last focused one, else the open file,
 * else the first. When that row is removed, the row in its place takes over, including the focus.
 */
export function useTreeKeys({
  tree,
  rows,
  active,
  onToggle,
}: {
  tree: RefObject<HTMLElement | null>
  rows: readonly Row[]
  active: string | null
  /** Opens or closes a folder. */
  onToggle: (path: string) => void
}) {
  const { i18n } = useTranslation()
  const [current, setCurrent] = useState<string | null>(active)
  const typed = useRef({ text: '', at: 0 })
  const hasFocus = useRef(false)
  const known = (path: string | null) => rows.find((row) => row.path === path)
  /** The index of `stop`; initially 0. */
  const place = useRef(0)
  const stop = known(current) ?? known(active) ?? rows[Math.min(place.current, rows.length - 1)]
  useLayoutEffect(() => {
    if (stop !== undefined) place.current = rows.indexOf(stop)
  })
  // Browsers send no `blur` event for a focused element that is removed.
  useLayoutEffect(() => {
    if (hasFocus.current && document.activeElement === document.body)
      tree.current?.querySelector<HTMLElement>(TREE_STOP)?.focus()
  })

  const focus = (row: Row): void => {
    setCurrent(row.path)
    tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')[rows.indexOf(row)]?.focus()
  }
  const typeAhead = (letter: string, time: number, at: number): Row | undefined => {
    const { text, at: before } = typed.current
    const isSame = text === letter
    const next = time - before > TYPING_PAUSE_MS || isSame ? letter : text + letter
    typed.current = { text: next, at: time }
    return rowStartingWith(next, rows, at, i18n.language)
  }
  return {
    stop,
    handlers: {
      onFocus: () => {
        hasFocus.current = true
      },
      onBlur: () => {
        hasFocus.current = false
      },
      onKeyDown: (event: KeyboardEvent<HTMLElement>): void => {
        if (event.ctrlKey || event.metaKey || event.altKey || stop === undefined) return
        const at = rows.indexOf(stop)
        const isChosen = event.key === 'Enter' || event.key === ' '
        const inward = shownDirection() === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
        const move = moveOf(event.key, rows, at, inward)
        const isLetter = NAME_CHARACTER.test(event.key)
        const match = isLetter ? typeAhead(event.key, event.timeStamp, at) : undefined
        if (isChosen && event.target instanceof HTMLElement) event.target.click()
        else if (move !== undefined && 'toggle' in move) onToggle(move.toggle.path)
        else if (move !== undefined) focus(move.to)
        else if (match !== undefined) focus(match)
        if (isChosen || move !== undefined || isLetter) event.preventDefault()
      },
    },
    /** Call it when a row gets the focus. */
    setCurrent,
  }
}
