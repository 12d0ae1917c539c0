// Whether a wide screen shows the sidebar: the reader's choice, stored in this browser.
import { useCallback, useState } from 'react'

const STORAGE_KEY = 'nanoclaw.sidebar'

const readStored = (): boolean => {
  try {
    return localStorage.getItem(STORAGE_KEY) !== 'hidden'
  } catch {
    return true // storage blocked: the choice lasts until the page closes
  }
}

/** Like `useState`; works without storage, too, and then forgets with a reload. */
export function useSidebar(): [shown: boolean, choose: (shown: boolean) => void] {
  const [shown, setShown] = useState(readStored)
  const choose = useCallback((next: boolean): void => {
    setShown(next)
    try {
      if (next) localStorage.removeItem(STORAGE_KEY)
      else localStorage.setItem(STORAGE_KEY, 'hidden')
    } catch {
      // as above
    }
  }, [])
  return [shown, choose]
}
