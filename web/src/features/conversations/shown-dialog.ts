// Which dialog about a conversation is shown. The list only opens it: a row that moves, or leaves the list, closes nothing.
import { create } from 'zustand'

export type ShownDialog = { kind: 'share' | 'tags' | 'delete_for_good'; id: string }

export const useShownDialog = create<{ shown: ShownDialog | null }>(() => ({ shown: null }))

export const showDialog = (kind: ShownDialog['kind'], id: string): void =>
  useShownDialog.setState({ shown: { kind, id } })

export const closeDialog = (): void => useShownDialog.setState({ shown: null })
