// Notifications of the system: whether the reader wants them, and whether the browser allows them here.
import { create } from 'zustand'

const STORAGE_KEY = 'nanoclaw.notifications'

/** Browsers offer notifications to secure contexts only: HTTPS, or this machine. */
export const canNotify = (): boolean => isSecureContext && 'Notification' in globalThis

const isWanted = (): boolean => {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'on'
  } catch {
    return false // storage is blocked
  }
}

const isAllowed = (): boolean => canNotify() && Notification.permission === 'granted'

type Notifications = {
  on: boolean
  /** Asks the browser for permission if needed; call it from a click. Stays off when that is refused. */
  switchTo(on: boolean): Promise<void>
}

export const useNotifications = create<Notifications>((set) => ({
  on: isAllowed() && isWanted(),
  async switchTo(on) {
    const allowed = on && canNotify() && (await Notification.requestPermission()) === 'granted'
    set({ on: allowed })
    try {
      localStorage.setItem(STORAGE_KEY, allowed ? 'on' : 'off')
    } catch {
      // Storage is blocked: the choice lasts until the page is closed.
    }
  },
}))

/** Shows a notification if the reader wants them and is not looking at the page. One with the same tag is replaced. */
export function notifyAway(text: string, tag: string, onOpen: () => void): void {
  if (!useNotifications.getState().on || !isAllowed()) return
  if (document.visibilityState === 'visible' && document.hasFocus()) return
  try {
    const shown = new Notification('NanoClaw', { body: text, tag, icon: '/icon-192.png' })
    shown.addEventListener('click', () => {
      window.focus()
      onOpen()
      shown.close()
    })
  } catch {
    // Some phones show notifications of service workers only; the title of the tab still says it.
  }
}
