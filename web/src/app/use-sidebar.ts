// Whether a wide screen shows the sidebar: the user's choice, stored in this browser.

import { useCallback, useState } from 'react'
import { storageName } from '../lib/base-path.ts'

const STORAGE_KEY = storageName('sidebar')

const readStored = (): boolean => {
  try {
    return localStorage.getItem(STORAGE_KEY) !== 'hidden'
  } catch {
    return true // storage is blocked: the choice lasts until the page closes
  }
}

/** Like `useState`, but stored. If storage is blocked, the choice lasts until the page closes. */
export function useSidebar(): [shown: boolean, choose: (shown: boolean) => void] {
  const [shown, setShown] = useState(readStored)
  const choose = useCallback((next: boolean): void => {
    setShown(next)
    try {
      if (next) localStorage.removeItem(STORAGE_KEY)
      else localStorage.setItem(STORAGE_KEY, 'hidden')
    } catch {
      // Storage is blocked.
    }
  }, [])
  return [shown, choose]
}
