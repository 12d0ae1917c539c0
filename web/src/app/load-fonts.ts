// Loads the fonts: after the first screen on a first visit, at once when the browser has cached them.
import { firstScreen } from '../lib/browser/first-screen.tsx'

const STORAGE_KEY = 'nanoclaw.fonts'

const areCached = (): boolean => {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'yes'
  } catch {
    return false // storage blocked: load them after the first screen
  }
}

/** Resolves when the text is drawn with them; until then the system's fonts stand in. */
export async function loadFonts(): Promise<void> {
  if (!areCached()) await firstScreen
  await import('./fonts.css')
  await document.fonts.ready
  try {
    localStorage.setItem(STORAGE_KEY, 'yes')
  } catch {
    // storage blocked: the next visit waits again
  }
}
