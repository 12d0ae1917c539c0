// How far the reader of an import is, and whether the server wants the rest of what is being read.

/** The progress of the thread that reads an import. */
export interface ReadingState {
  /** Of the import's total. */
  done: number
  /** Begins a conversation or a project. @returns whether it is still wanted. */
  begin(): () => boolean
  /** The server does not want what is being read. */
  skip(): void
}

/** One for each import, shared by the reader and its messages. */
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
