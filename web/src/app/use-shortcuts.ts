// The page's keyboard shortcuts. Single keys work only while no text field has the focus.
import { useEffect } from 'react'
import { isApple } from '../lib/shortcuts.ts'

/** The action of a shortcut. */
export type Shortcut = 'newChat' | 'search' | 'sidebar' | 'focus' | 'answer' | 'help'

const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const shortcutOf = (event: KeyboardEvent): Shortcut | null => {
  const command = isApple ? event.metaKey : event.ctrlKey
  const key = event.key.toLowerCase()
  if (command && !event.altKey) {
    if (key === 'k' && !event.shiftKey) return 'search'
    if (key === 'o' && event.shiftKey) return 'newChat'
    if (key === 'b' && !event.shiftKey) return 'sidebar'
    if (key === '.' && !event.shiftKey) return 'answer'
    return null
  }
  if (event.altKey || event.ctrlKey || event.metaKey || isTextField(event.target)) return null
  if (key === '/') return 'focus'
  return key === '?' ? 'help' : null
}

/** Listens to key presses on the window while the caller is mounted; `act` performs the shortcut. */
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
