// Drafts: unsent text per conversation, stored while the tab is open.
import { privateKey } from '../../../lib/browser/private-storage.ts'

/** `public/early-field.js` stores drafts too. */
const storageKey = (key: string): string => privateKey(`draft.${key}`)

/** The draft with this key; empty if there is none or storage is blocked. */
export const readDraft = (key: string): string => {
  try {
    return sessionStorage.getItem(storageKey(key)) ?? ''
  } catch {
    return ''
  }
}

/** Replaces the draft; an empty text removes it. Never throws. */
export const writeDraft = (key: string, text: string): void => {
  try {
    if (text === '') sessionStorage.removeItem(storageKey(key))
    else sessionStorage.setItem(storageKey(key), text)
  } catch {
    // Storage is blocked or full: the draft exists only in the field.
  }
}
