// The keyboard in the conversation list: arrows, Home and End move among its rows, with Alt they move a pinned conversation.
// When the row with the focus is removed, the focus goes on to the next one.
import {
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react'
import { keyOf, type ListEntry } from './list-entries.ts'

/** What the search field above the list can do with it. */
export interface RowsHandle {
  focusFirst(): void
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

const controlsOf = (row: Element): HTMLElement[] => [
  ...row.querySelectorAll<HTMLElement>('a, input, button'),
]

const isField = (element: Element): boolean => element.matches('input:not([type="checkbox"])')

/**
 * `indexes` finds the entry of a key in `entries`. `onMove` receives a pinned conversation and by
 * how many places it moves.
 */
export function useRowKeys({
  ref,
  entries,
  indexes,
  onFocus,
  onMove,
  onEmpty,
}: {
  ref: Ref<RowsHandle>
  entries: readonly ListEntry[]
  indexes: ReadonlyMap<string, number>
  /** The row is to get the focus: the caller sees to it that it is in the document. */
  onFocus: (id: string, index: number) => void
  onMove: (id: string, places: number) => void
  /** The focus was in the list, whose last row has been removed. */
  onEmpty: () => void
}): {
  list: RefObject<HTMLDivElement | null>
  onKeyDown: (event: KeyboardEvent) => void
  /** Something in the row has got the focus. */
  noteFocus: (id: string, target: HTMLElement) => void
  /** Gives the row the focus after the next rendering. */
  refocus: (id: string) => void
} {
  const list = useRef<HTMLDivElement>(null)
  /** The row that gets the focus once it is in the document, and which of its controls. */
  const wanted = useRef<{ id: string; control: number } | null>(null)
  useLayoutEffect(() => {
    if (wanted.current === null) return
    const { id, control } = wanted.current
    const row = list.current?.querySelector(`[data-row="${id}"]`)
    if (row == null) return
    wanted.current = null
    const controls = controlsOf(row)
    const target = controls[control] ?? controls[0]
    target?.focus({ preventScroll: true })
  })
  const focusRow = (index: number, control = 0): void => {
    const id = keyOf(entries[index])
    wanted.current = { id, control }
    onFocus(id, index)
  }
  /** What had the focus last, and where: its row's place in `entries`, and its own among the row's controls. */
  const last = useRef<{ id: string; target: Element; index: number; control: number } | null>(null)
  useLayoutEffect(() => {
    const lost = last.current
    if (lost === null) return
    lost.index = indexes.get(lost.id) ?? lost.index
    // A browser puts the focus at the beginning of the page when what had it is removed.
    if (lost.target.isConnected || document.activeElement !== document.body) return
    last.current = null
    if (entries.length < 2) return onEmpty()
    const next = Math.min(lost.index, entries.length - 1)
    focusRow(entries[next]?.kind === 'heading' ? next + 1 : next, lost.control)
  })
  useImperativeHandle(ref, () => ({
    focusFirst: () => {
      if (entries.length > 1) focusRow(1)
    },
  }))
  return {
    list,
    noteFocus(id, target) {
      const row = target.closest('[data-row]')
      const control = row === null ? 0 : controlsOf(row).indexOf(target)
      last.current = { id, target, index: indexes.get(id) ?? 1, control }
    },
    refocus: (id) => {
      wanted.current = { id, control: 0 }
    },
    onKeyDown(event) {
      const { key, target } = event
      const step = STEPS[key]
      if (step === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey) return
      // Menus of a row are elsewhere in the document, although their events come through here.
      if (!(target instanceof Element) || !event.currentTarget.contains(target) || isField(target))
        return
      const id = target.closest<HTMLElement>('[data-row]')?.dataset.row
      const index = id === undefined ? undefined : indexes.get(id)
      if (id === undefined || index === undefined) return
      event.preventDefault()
      if (event.altKey) {
        if (Math.abs(step) === 1) onMove(id, step)
        return
      }
      const next = Math.min(Math.max(index + step, 1), entries.length - 1)
      const beyond = entries[next]?.kind === 'heading' ? next + Math.sign(step) : next
      focusRow(Math.max(beyond, 1))
    },
  }
}
