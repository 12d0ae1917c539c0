// Puts text into the message field from elsewhere on the page, such as a quote of an answer.

type Insert = (text: string) => void

let current: Insert | null = null

/** Makes a field the one that receives texts; returns how to end that. */
export function receiveInserts(insert: Insert): () => void {
  current = insert
  return () => {
    if (current === insert) current = null
  }
}

/** Without a field on the page, nothing happens. */
export const insertIntoComposer = (text: string): void => current?.(text)
