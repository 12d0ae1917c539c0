// On touch screens, the back button closes what is open over the page (drawer, dialog, image, panel, menu) instead of leaving the page.

import { useEffect } from 'react'
import { useNewest } from '../../lib/newest.ts'

/** An open overlay, which has an entry of its own in the history of the tab. */
type Opened = { id: string; close: () => void }

/** What the entry of an overlay stores. `isOver`: it was closed by other means, and there is nothing to see at its entry. */
type EntryState = { overlay: string; isOver?: boolean }

const opened: Opened[] = []
let count = 0

const stateOf = (state: unknown): EntryState | null =>
  typeof state === 'object' && state !== null && 'overlay' in state ? (state as EntryState) : null // only this file writes this field

/** The state of the entry that is shown, or, within the handler of `popstate`, of the one that was left. */
let shown: EntryState | null = null

/** Navigation within the page changes the entry, too; the router announces it by events of these names. */
function watchHistory(): void {
  shown = stateOf(history.state)
  for (const name of ['pushState', 'replaceState'])
    addEventListener(name, () => {
      shown = stateOf(history.state)
    })
  let isPassing = false
  addEventListener('popstate', () => {
    const left = isPassing ? null : shown
    shown = stateOf(history.state)
    const last = opened.at(-1)
    if (last !== undefined && left?.overlay === last.id) return last.close()
    // One step of the user passes over the entries of overlays that are closed.
    const { overlay } = shown ?? {}
    isPassing = overlay !== undefined && !opened.some(({ id }) => id === overlay)
    if (isPassing || left?.isOver === true) history.back()
  })
}

let isWatching = false

function enter(close: () => void): () => void {
  if (!isWatching) watchHistory()
  isWatching = true
  count += 1
  const entry: Opened = { id: `${Date.now()}-${count}`, close }
  opened.push(entry)
  history.pushState({ overlay: entry.id }, '')
  return () => {
    opened.splice(opened.indexOf(entry), 1)
    // Not `history.back()`, which takes effect later and would undo a navigation that the same press has caused.
    if (stateOf(history.state)?.overlay === entry.id)
      history.replaceState({ overlay: entry.id, isOver: true }, '')
  }
}

/** While `open`, the back button of a touch screen calls `close`. */
export function useCloseWithBack(open: boolean, close: () => void): void {
  const newest = useNewest(close)
  useEffect(() => {
    if (!open || !matchMedia('(pointer: coarse)').matches) return
    return enter(() => newest.current())
  }, [open])
}
