// Loads the fonts: after the first screen on the first visit, at once if the browser has cached them.
import { storageName } from '../lib/base-path.ts'
import { firstScreen } from '../lib/browser/first-screen.tsx'

const STORAGE_KEY = storageName('fonts')

const areCached = (): boolean => {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'yes'
  } catch {
    return false // storage is blocked: load them after the first screen
  }
}

/** Resolves once the text uses the page's fonts; until then it uses system fonts. */
export async function loadFonts(): Promise<void> {
  if (!areCached()) await firstScreen
  await import('./fonts.css')
  await document.fonts.ready
  try {
    localStorage.setItem(STORAGE_KEY, 'yes')
  } catch {
    // Storage is blocked: the next visit waits again.
  }
}
