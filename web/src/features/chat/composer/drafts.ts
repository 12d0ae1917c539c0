// Unsent text, kept for each conversation as long as the tab is open.
const KEY_PREFIX = 'nanoclaw.draft.'

export const readDraft = (key: string): string => {
  try {
    return sessionStorage.getItem(KEY_PREFIX + key) ?? ''
  } catch {
    return ''
  }
}

export const writeDraft = (key: string, text: string): void => {
  try {
    if (text === '') sessionStorage.removeItem(KEY_PREFIX + key)
    else sessionStorage.setItem(KEY_PREFIX + key, text)
  } catch {
    // storage blocked or full: the draft exists only in the field
  }
}
