// Drafts: unsent text per conversation, stored while the tab is open.
const KEY_PREFIX = 'nanoclaw.draft.'

/** The draft with this key; empty if there is none or storage is blocked. */
export const readDraft = (key: string): string => {
  try {
    return sessionStorage.getItem(KEY_PREFIX + key) ?? ''
  } catch {
    return ''
  }
}

/** Replaces the draft; an empty text removes it. Never throws. */
export const writeDraft = (key: string, text: string): void => {
  try {
    if (text === '') sessionStorage.removeItem(KEY_PREFIX + key)
    else sessionStorage.setItem(KEY_PREFIX + key, text)
  } catch {
    // Storage is blocked or full: the draft exists only in the field.
  }
}
