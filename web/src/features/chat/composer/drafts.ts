// Unsent text, kept for each conversation as long as the tab is open.
const prefix = 'nanoclaw.draft.'

export const readDraft = (key: string): string => {
  try {
    return sessionStorage.getItem(prefix + key) ?? ''
  } catch {
    return ''
  }
}

export const writeDraft = (key: string, text: string): void => {
  try {
    if (text === '') sessionStorage.removeItem(prefix + key)
    else sessionStorage.setItem(prefix + key, text)
  } catch {
    // storage blocked or full: the draft exists only in the field
  }
}
