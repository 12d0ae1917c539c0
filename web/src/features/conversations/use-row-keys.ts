// Keyboard control of the conversation list: arrows, Home and End move the focus, Alt with an arrow moves a pinned
// conversation. When the focused row is removed, the next one gets the focus.
import {
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react'
import { keyOf, type ListEntry } from './list-entries.ts'

/** The handle of the rows for the search field above the list. */
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
 * `indexes` maps keys to the index in `entries`. `onMove` receives a pinned conversation and by how many positions to move
 * it.
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
  /** Called when a row should get the focus; the caller makes sure that it is in the document. */
  onFocus: (id: string, index: number) => void
  onMove: (id: string, places: number) => void
  /** Called when the last row has been removed and the focus was in the list. */
  onEmpty: () => void
}): {
  list: RefObject<HTMLDivElement | null>
  onKeyDown: (event: KeyboardEvent) => void
  /** Records that an element in the row has the focus. */
  noteFocus: (id: string, target: HTMLElement) => void
  /** Focuses the row after the next render. */
  refocus: (id: string) => void
} {
  const list = useRef<HTMLDivElement>(null)
  /** The row to focus once it is in the document, and the index of its control. */
  const pendingFocus = useRef<{ id: string; control: number } | null>(null)
  useLayoutEffect(() => {
    if (pendingFocus.current === null) return
    const { id, control } = pendingFocus.current
    const row = list.current?.querySelector(`[data-row="${id}"]`)
    if (row == null) return
    pendingFocus.current = null
    const controls = controlsOf(row)
    const target = controls[control] ?? controls[0]
    target?.focus({ preventScroll: true })
  })
  const focusRow = (index: number, control = 0): void => {
    const id = keyOf(entries[index])
    pendingFocus.current = { id, control }
    onFocus(id, index)
  }
  /** The last focus: its row, the row's index in `entries`, and the index of the control in the row. */
  const last = useRef<{ id: string; target: Element; index: number; control: number } | null>(null)
  useLayoutEffect(() => {
    const lost = last.current
    if (lost === null) return
    lost.index = indexes.get(lost.id) ?? lost.index
    // A browser resets the focus to the start of the page when the focused element is removed.
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
      pendingFocus.current = { id, control: 0 }
    },
    onKeyDown(event) {
      const { key, target } = event
      const step = STEPS[key]
      if (step === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey) return
      // React also delivers events from a row's menus, which are elsewhere in the document.
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
