// Which dialog about a conversation is shown. The list only opens it: a row that moves, or leaves the list, closes nothing.
import { create } from 'zustand'

/** A dialog and the id of the conversation that it is about. */
export type ShownDialog = { kind: 'share' | 'tags' | 'delete_for_good'; id: string }

export const useShownDialog = create<{ shown: ShownDialog | null }>(() => ({ shown: null }))

/** Opens a dialog; one that is open is replaced. */
export const showDialog = (kind: ShownDialog['kind'], id: string): void =>
  useShownDialog.setState({ shown: { kind, id } })

/** Closes the open dialog, if there is one. */
export const closeDialog = (): void => useShownDialog.setState({ shown: null })
