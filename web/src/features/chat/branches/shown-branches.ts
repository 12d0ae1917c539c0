// Whether the overview of the branches is open. A button of an answer or a command opens it.
import { create } from 'zustand'

/** Whether the overview is open. */
export const useShownBranches = create<{ shown: boolean }>(() => ({ shown: false }))

/** Opens the overview, or closes it with `false`. */
export const showBranches = (shown: boolean): void => useShownBranches.setState({ shown })
