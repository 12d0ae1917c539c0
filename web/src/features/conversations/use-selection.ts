// Which conversations of the list are selected, while several are being selected.
import { useRef, useState } from 'react'
import { VIEW_BUTTON_ID } from './list-controls.tsx'

/** `all` are the ids that the list shows, in order. */
export function useSelection(all: readonly string[]) {
  /** Null while nothing is being selected. */
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null)
  /** Where a range begins: the conversation toggled last. */
  const anchor = useRef<string | null>(null)
  return {
    selected,
    start(): void {
      anchor.current = null
      setSelected(new Set())
    },
    /** Ends without a trace, because the list shows something else. */
    forget: () => setSelected(null),
    /** Ends, with the focus back on the button that began it. */
    end(): void {
      setSelected(null)
      document.getElementById(VIEW_BUTTON_ID)?.focus()
    },
    /** Has no effect once the selection has ended. */
    set: (ids: readonly string[]) => setSelected((old) => (old === null ? null : new Set(ids))),
    /** Selects one or takes it out; `isRange`: all from the one toggled last to this one become like this one. */
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
