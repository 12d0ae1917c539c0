// System notifications: the user's choice, the browser's permission, and showing one.

import { create } from 'zustand'
import { storageName } from '../base-path.ts'

const STORAGE_KEY = storageName('notifications')

/** Whether the browser offers notifications: only in secure contexts (HTTPS or localhost). */
export const canNotify = (): boolean => isSecureContext && 'Notification' in globalThis

const isChosen = (): boolean => {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'on'
  } catch {
    return false // storage is blocked
  }
}

const isAllowed = (): boolean => canNotify() && Notification.permission === 'granted'

type Notifications = {
  on: boolean
  /** Asks the browser for permission if needed, so call it from a click. Stays off if the permission is denied. */
  switchTo(on: boolean): Promise<void>
}

/** Whether notifications are on; on only with the permission of the browser. */
export const useNotifications = create<Notifications>((set) => ({
  on: isAllowed() && isChosen(),
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

/** Shows a notification if they are on and the user is not looking at the page. It replaces one with the same tag. */
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
    // Some phones allow notifications only from service workers; the tab's title still shows the news.
  }
}
