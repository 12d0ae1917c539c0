// A text that arrives in many pieces, such as the answer of a model.

/** The pieces are joined from time to time, because a long chain of strings takes more memory than the text. */
export interface GrowingText {
  joined: string
  pieces: string[]
}

const JOIN_AT = 16

/** A text without pieces. */
export const createGrowingText = (): GrowingText => ({ joined: '', pieces: [] })

/** Adds a piece at the end. */
export function addPiece(text: GrowingText, piece: string): void {
  if (text.pieces.push(piece) >= JOIN_AT) wholeText(text)
}

/** The whole text. */
export function wholeText(text: GrowingText): string {
  if (text.pieces.length > 0) text.joined += text.pieces.join('')
  text.pieces = []
  return text.joined
}
