// Opens a file of the project beside the conversation, from elsewhere on the page.

type Open = (path: string) => void

let current: Open | null = null

/** Registers what shows files beside the conversation. Returns the function that unregisters it. */
export function receiveFilesBeside(open: Open): () => void {
  current = open
  return () => {
    if (current === open) current = null
  }
}

/** Does nothing if the page shows no conversation. */
export const openBeside = (path: string): void => current?.(path)
