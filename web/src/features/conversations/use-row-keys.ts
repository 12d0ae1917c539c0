// The keys of the conversation list: arrows, Home and End move among its rows, with Alt they move a pinned conversation.
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
}: {
  ref: Ref<RowsHandle>
  entries: readonly ListEntry[]
  indexes: ReadonlyMap<string, number>
  /** The row is to get the focus: the caller sees to it that it is in the document. */
  onFocus: (id: string, index: number) => void
  onMove: (id: string, places: number) => void
}): {
  list: RefObject<HTMLDivElement | null>
  onKeyDown: (event: KeyboardEvent) => void
  /** Gives the row the focus after the next rendering. */
  refocus: (id: string) => void
} {
  const list = useRef<HTMLDivElement>(null)
  /** The row that gets the focus once it is in the document. */
  const wanted = useRef<string | null>(null)
  useLayoutEffect(() => {
    if (wanted.current === null) return
    const row = list.current?.querySelector(`[data-row="${wanted.current}"]`)
    if (row == null) return
    wanted.current = null
    row.querySelector<HTMLElement>('a, input, button')?.focus({ preventScroll: true })
  })
  const focusRow = (index: number): void => {
    const id = keyOf(entries[index])
    wanted.current = id
    onFocus(id, index)
  }
  useImperativeHandle(ref, () => ({
    focusFirst: () => {
      if (entries.length > 1) focusRow(1)
    },
  }))
  return {
    list,
    refocus: (id) => {
      wanted.current = id
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
