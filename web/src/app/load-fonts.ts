// Loads the fonts: after the first screen at the first visit, at once when the browser has them already.
import { firstScreen } from '../lib/first-screen.tsx'

const storageKey = 'nanoclaw.fonts'

const haveCome = (): boolean => {
  try {
    return localStorage.getItem(storageKey) === 'yes'
  } catch {
    return false // storage blocked: they come after the first screen
  }
}

export async function loadFonts(): Promise<void> {
  if (!haveCome()) await firstScreen
  await import('./fonts.css')
  await document.fonts.ready
  try {
    localStorage.setItem(storageKey, 'yes')
  } catch {
    // the next visit waits again
  }
}
