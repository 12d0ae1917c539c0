// Whether the server can be reached.
import { create } from 'zustand'

type Offline = {
  /** Whether the last request did not reach the server. */
  isOffline: boolean
  /** When the messages that are shown were loaded, as ISO 8601, if they are a copy. */
  copiedAt: string | null
}

export const useOffline = create<Offline>(() => ({ isOffline: false, copiedAt: null }))

/** Notes whether a request reached the server. */
export function noteConnection(isReached: boolean): void {
  const { isOffline } = useOffline.getState()
  if (isOffline === !isReached) return
  useOffline.setState(isReached ? { isOffline: false, copiedAt: null } : { isOffline: true })
}
