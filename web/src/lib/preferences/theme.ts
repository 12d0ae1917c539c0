// Light, dark or the system's theme; `public/theme.js` applies the same rule before the first paint.

import { create } from 'zustand'
import { storageName } from '../base-path.ts'

/** The user's choice; `system` follows the operating system, including its changes. */
export type ThemeChoice = 'system' | 'light' | 'dark'

const STORAGE_KEY = storageName('theme')
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

const readStored = (): ThemeChoice => {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

const isDark = (choice: ThemeChoice): boolean =>
  choice === 'dark' || (choice === 'system' && systemIsDark.matches)

const apply = (choice: ThemeChoice): void => {
  document.documentElement.dataset.theme = isDark(choice) ? 'dark' : 'light'
}

type Theme = { choice: ThemeChoice; dark: boolean; choose(choice: ThemeChoice): void }

/** The choice, and whether the page is dark now; `choose` stores and applies a choice. */
export const useTheme = create<Theme>((set, get) => {
  systemIsDark.addEventListener('change', () => {
    apply(get().choice)
    set({ dark: isDark(get().choice) })
  })
  const choice = readStored()
  return {
    choice,
    dark: isDark(choice),
    choose: (next) => {
      try {
        if (next === 'system') localStorage.removeItem(STORAGE_KEY)
        else localStorage.setItem(STORAGE_KEY, next)
      } catch {
        // Storage is blocked: the choice lasts until the page closes.
      }
      apply(next)
      set({ choice: next, dark: isDark(next) })
    },
  }
})
