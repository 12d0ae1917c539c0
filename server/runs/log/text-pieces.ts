// Splits text that arrived at once into events of bounded size.
/** Maximum text per event, however fast the model: limits what is buffered for a reader that has stopped reading. */
const MAX_EVENT_CHARACTERS = 32_000

/** Splits the text into pieces of bounded size, never within a surrogate pair. */
export function* piecesOf(text: string): Generator<string> {
  let from = 0
  while (text.length - from > MAX_EVENT_CHARACTERS) {
    const last = text.charCodeAt(from + MAX_EVENT_CHARACTERS - 1)
    const splitsPair = last >= 0xd800 && last <= 0xdbff
    const to = from + MAX_EVENT_CHARACTERS - (splitsPair ? 1 : 0)
    yield text.slice(from, to)
    from = to
  }
  yield text.slice(from)
}
