// Tracks whether the server is reachable.
import { create } from 'zustand'

type Offline = {
  /** Whether the last request did not reach the server. */
  isOffline: boolean
  /** When the displayed messages were loaded (ISO 8601) if they are a copy, else null. */
  copiedAt: string | null
}

/** The state of the connection to the server. */
export const useOffline = create<Offline>(() => ({ isOffline: false, copiedAt: null }))

/** Records whether the last request reached the server. */
export function reportConnection(isReached: boolean): void {
  const { isOffline } = useOffline.getState()
  if (isOffline === !isReached) return
  useOffline.setState(isReached ? { isOffline: false, copiedAt: null } : { isOffline: true })
}
