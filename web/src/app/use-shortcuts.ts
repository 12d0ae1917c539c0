// The page's keyboard shortcuts. Single letters work only while no text field has the focus.
import { useEffect } from 'react'
import { isApple } from '../lib/shortcuts.ts'

/** What a shortcut does; the keys are in this file alone. */
export type Shortcut = 'newChat' | 'search' | 'sidebar' | 'focus' | 'help'

const writes = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const shortcutOf = (event: KeyboardEvent): Shortcut | null => {
  const command = isApple ? event.metaKey : event.ctrlKey
  const key = event.key.toLowerCase()
  if (command && !event.altKey) {
    if (key === 'k' && !event.shiftKey) return 'search'
    if (key === 'o' && event.shiftKey) return 'newChat'
    if (key === 'b' && !event.shiftKey) return 'sidebar'
    return null
  }
  if (event.altKey || event.ctrlKey || event.metaKey || writes(event.target)) return null
  if (key === '/') return 'focus'
  return key === '?' ? 'help' : null
}

/** Listens on the whole window while the component is mounted; `act` performs the shortcut. */
export function useShortcuts(act: (shortcut: Shortcut) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const shortcut = shortcutOf(event)
      if (shortcut === null) return
      event.preventDefault()
      act(shortcut)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [act])
}
