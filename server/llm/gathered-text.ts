// A text that grows by very small pieces up to a megabyte, without leaving hundreds of thousands of strings behind.

export interface GatheredText {
  add(piece: string): void
  /** Characters so far. */
  readonly length: number
  /** All of it; costs a copy. */
  read(): string
}

const PIECES = 512

export function createGatheredText(): GatheredText {
  const blocks: string[] = []
  let pieces: string[] = []
  let length = 0
  return {
    add(piece) {
      length += piece.length
      if (pieces.push(piece) < PIECES) return
      blocks.push(pieces.join(''))
      pieces = []
    },
    get length() {
      return length
    },
    read: () => blocks.join('') + pieces.join(''),
  }
}
