// Loads the fonts: after the first screen on a first visit, at once when the browser has cached them.
import { firstScreen } from '../lib/first-screen.tsx'

const storageKey = 'nanoclaw.fonts'

const haveCome = (): boolean => {
  try {
    return localStorage.getItem(storageKey) === 'yes'
  } catch {
    return false // storage blocked: load them after the first screen
  }
}

export async function loadFonts(): Promise<void> {
  if (!haveCome()) await firstScreen
  await import('./fonts.css')
  await document.fonts.ready
  try {
    localStorage.setItem(storageKey, 'yes')
  } catch {
    // storage blocked: the next visit waits again
  }
}
