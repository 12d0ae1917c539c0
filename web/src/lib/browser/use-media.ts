// Hook: whether a media query matches, kept up to date.
import { useSyncExternalStore } from 'react'

/** Whether `query`, in CSS syntax such as `(min-width: 64rem)`, matches. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query)
      list.addEventListener('change', changed)
      return () => list.removeEventListener('change', changed)
    },
    () => matchMedia(query).matches,
  )
}
