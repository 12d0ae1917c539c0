// A text that grows in small pieces up to a megabyte, without allocating hundreds of thousands of strings.

/** A text that grows in small pieces, without a copy for each. */
export interface GatheredText {
  add(piece: string): void
  /** Number of characters so far. */
  readonly length: number
  /** Returns the whole text. Costs a copy. */
  read(): string
}

/** Up to this length, a plain string is cheapest. */
const SHORT = 512
const FIRST_SIZE = 4_096
const none = new Uint16Array(0)

/**
 * A long text is stored in one array that doubles when it is full. The garbage collector has nothing to scan, so adding the
 * last piece costs as much as adding the first.
 */
export function createGatheredText(): GatheredText {
  let short = ''
  let units = none
  let length = 0

  function store(piece: string): void {
    const end = length + piece.length
    if (end > units.length) {
      const larger = new Uint16Array(Math.max(units.length * 2, end, FIRST_SIZE))
      larger.set(units)
      units = larger
    }
    for (let at = 0; at < piece.length; at += 1) units[length + at] = piece.charCodeAt(at)
    length = end
  }

  return {
    add(piece) {
      if (units !== none) return store(piece)
      short += piece
      if (short.length <= SHORT) return
      store(short)
      short = ''
    },
    get length() {
      return short.length + length
    },
    // UTF-16 units, so that a surrogate pair split between two pieces is preserved.
    read: () =>
      units === none ? short : Buffer.from(units.buffer, 0, length * 2).toString('utf16le'),
  }
}
