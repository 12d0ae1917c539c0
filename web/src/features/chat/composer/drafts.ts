// Drafts: unsent text per conversation, stored while the tab is open.
import { privateKey } from '../../../lib/browser/private-storage.ts'

/** `early-field.js` stores drafts too. */
const storageKey = (key: string): string => privateKey(`draft.${key}`)

/** The draft with this key; empty if there is none or storage is blocked. */
export const readDraft = (key: string): string => {
  try {
    return sessionStorage.getItem(storageKey(key)) ?? ''
  } catch {
    return ''
  }
}

type Receiver = (text: string) => void
/** The open composers, by the key of their draft. */
const receivers = new Map<string, Receiver>()

/** While a composer is open, it receives the texts that come back. Returns the function that ends that. */
export function receiveReturned(key: string, receive: Receiver): () => void {
  receivers.set(key, receive)
  return () => {
    if (receivers.get(key) === receive) receivers.delete(key)
  }
}

/** A text that was not sent and one that was written since. */
export const joinTexts = (returned: string, since: string): string =>
  [returned, since].filter((text) => text !== '').join('\n\n')

/** Puts a text that could not be sent before what has been written since. */
export function returnDraft(key: string, text: string): void {
  const receive = receivers.get(key)
  if (receive === undefined) writeDraft(key, joinTexts(text, readDraft(key)))
  else receive(text)
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
