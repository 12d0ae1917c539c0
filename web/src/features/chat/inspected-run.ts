// Which run the inspector shows. An answer's menu or a command opens it.
import { create } from 'zustand'

/** The id of the inspected run; null while the inspector is closed. */
export const useInspected = create<{ runId: string | null }>(() => ({ runId: null }))

/** Opens the inspector for a run; null closes it. */
export const inspectRun = (runId: string | null): void => useInspected.setState({ runId })
