// Whether the overview of the branches is open: from beside an answer, or by a command.
import { create } from 'zustand'

export const useShownBranches = create<{ shown: boolean }>(() => ({ shown: false }))

/** Opens the overview, or closes it with false. */
export const showBranches = (shown: boolean): void => useShownBranches.setState({ shown })
