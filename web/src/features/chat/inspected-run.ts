// Which run the inspector shows: opened from an answer's menu or by a command.
import { create } from 'zustand'

export const useInspected = create<{ runId: string | null }>(() => ({ runId: null }))

/** Opens the inspector for a run; null closes it. */
export const inspectRun = (runId: string | null): void => useInspected.setState({ runId })
