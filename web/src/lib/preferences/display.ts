// The appearance of the page and the send key, stored in this browser. `public/theme.js` applies the same before the first paint.

import { create } from 'zustand'
import { storageName } from '../base-path.ts'

const CHOICES = {
  textSize: ['normal', 'large', 'largest'],
  density: ['comfortable', 'compact'],
  /** `system` follows the operating system. */
  contrast: ['system', 'more'],
  motion: ['system', 'less'],
  /** `mod-enter`: Ctrl+Enter, or Command+Enter on a Mac. */
  sendKey: ['enter', 'mod-enter'],
  /** Tokens, cost, time and model of each answer: in its menu, or below it, too. */
  figures: ['menu', 'below'],
} as const

/** The chosen value of each setting. */
export type Display = { -readonly [Key in keyof typeof CHOICES]: (typeof CHOICES)[Key][number] }

/** The possible values of each setting; the first one is the default. */
export const DISPLAY_CHOICES: { [Key in keyof Display]: readonly Display[Key][] } = CHOICES

const STORAGE_KEY = storageName('display')
const systemContrast = matchMedia('(prefers-contrast: more)')

const chosen = <Key extends keyof Display>(
  stored: Partial<Record<string, unknown>>,
  key: Key,
): Display[Key] => {
  const choices = DISPLAY_CHOICES[key]
  return choices.find((choice) => choice === stored[key]) ?? (choices[0] as Display[Key]) // never empty
}

function readStored(): Display {
  let stored: Partial<Record<string, unknown>> = {}
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}')
    if (typeof parsed === 'object' && parsed !== null) stored = { ...parsed }
  } catch {
    // Storage is blocked, or holds something else: the defaults apply.
  }
  return {
    textSize: chosen(stored, 'textSize'),
    density: chosen(stored, 'density'),
    contrast: chosen(stored, 'contrast'),
    motion: chosen(stored, 'motion'),
    sendKey: chosen(stored, 'sendKey'),
    figures: chosen(stored, 'figures'),
  }
}

function apply({ textSize, density, contrast, motion }: Display): void {
  const { dataset } = document.documentElement
  dataset.text = textSize
  dataset.density = density
  dataset.contrast = contrast === 'more' || systemContrast.matches ? 'more' : 'normal'
  dataset.motion = motion
}

type DisplayStore = Display & { change(part: Partial<Display>): void }

/** The current settings; `change` stores and applies some of them. */
export const useDisplay = create<DisplayStore>((set, get) => {
  systemContrast.addEventListener('change', () => apply(get()))
  const stored = readStored()
  apply(stored)
  return {
    ...stored,
    change: (part) => {
      set(part)
      const { change: _, ...display } = get()
      apply(display)
      try {
        localStorage.setItem(STORAGE_KEY, JSON.stringify(display))
      } catch {
        // Storage is blocked: the choice lasts until the page is closed.
      }
    },
  }
})

/** Whether a key press in a message field sends the message. The keyboard of a touch screen has no other key for a new line. */
export function isSendKey(event: {
  key: string
  shiftKey: boolean
  ctrlKey: boolean
  metaKey: boolean
}): boolean {
  if (event.key !== 'Enter' || event.shiftKey) return false
  if (event.ctrlKey || event.metaKey) return true
  return useDisplay.getState().sendKey === 'enter' && !matchMedia('(pointer: coarse)').matches
}
