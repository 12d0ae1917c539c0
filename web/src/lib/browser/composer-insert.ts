// Inserts text into the composer from elsewhere on the page, for example a quote of an answer.

type Insert = (text: string) => void

let current: Insert | null = null

/** Registers the composer's insert function. Returns the function that unregisters it. */
export function receiveInserts(insert: Insert): () => void {
  current = insert
  return () => {
    if (current === insert) current = null
  }
}

/** Inserts the text at the end. @returns false, and does nothing, if the page has no composer. */
export function insertIntoComposer(text: string): boolean {
  current?.(text)
  return current !== null
}
