// Which dialog about a conversation is open. Not state of the list, so that a row that moves or disappears does not close
// it.
import { create } from 'zustand'

/** The kind of a dialog and the id of its conversation. */
export type ShownDialog = { kind: 'share' | 'tags' | 'delete_for_good'; id: string }

/** The open dialog; null if none is open. */
export const useShownDialog = create<{ shown: ShownDialog | null }>(() => ({ shown: null }))

/** Opens a dialog; it replaces an open one. */
export const showDialog = (kind: ShownDialog['kind'], id: string): void =>
  useShownDialog.setState({ shown: { kind, id } })

/** Closes the open dialog, if any. */
export const closeDialog = (): void => useShownDialog.setState({ shown: null })
