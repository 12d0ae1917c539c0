// The state of the selection of conversations in the list.
import { useRef, useState } from 'react'
import { VIEW_BUTTON_ID } from './list-controls.tsx'

/** `all` are the ids in the list, in order. */
export function useSelection(all: readonly string[]) {
  /** Null outside selection mode. */
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null)
  /** The start of a range: the conversation that was toggled last. */
  const anchor = useRef<string | null>(null)
  return {
    selected,
    start(): void {
      anchor.current = null
      setSelected(new Set())
    },
    /** Ends the selection without moving the focus, because the list shows something else. */
    forget: () => setSelected(null),
    /** Ends the selection and returns the focus to the button that started it. */
    end(): void {
      setSelected(null)
      document.getElementById(VIEW_BUTTON_ID)?.focus()
    },
    /** Has no effect after the selection has ended. */
    set: (ids: readonly string[]) => setSelected((old) => (old === null ? null : new Set(ids))),
    /** Toggles a conversation. With `isRange`, all from the last toggled one to this one get the same state. */
    toggle(id: string, isRange: boolean): void {
      const next = new Set(selected)
      const isAdded = !next.has(id)
      const [from, to] = [all.indexOf(anchor.current ?? id), all.indexOf(id)]
      const range =
        isRange && from !== -1 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [id]
      for (const one of range)
        if (isAdded) next.add(one)
        else next.delete(one)
      anchor.current = id
      setSelected(next)
    },
  }
}
