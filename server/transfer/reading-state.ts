// The progress of the reader of an import, and whether the server wants the rest of what is being read.

/** The progress of the thread that reads an import. */
export interface ReadingState {
  /** Of the import's total bytes. */
  done: number
  /** Begins a conversation or a project. @returns a function that tells whether it is still wanted. */
  begin(): () => boolean
  /** Called when the server does not want the rest of what is being read. */
  skip(): void
}

/** Create one per import, for the reader and its messages. */
export function createReadingState(): ReadingState {
  let isWanted = true
  return {
    done: 0,
    begin() {
      isWanted = true
      return () => isWanted
    },
    skip() {
      isWanted = false
    },
  }
}
