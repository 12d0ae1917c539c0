// Unsent text, kept for each conversation as long as the tab is open.
const KEY_PREFIX = 'nanoclaw.draft.'

/** The draft with this key; empty when there is none or the browser blocks storage. */
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
    // storage blocked or full: the draft exists only in the field
  }
}
