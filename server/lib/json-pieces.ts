// Serializes JSON in chunks of bounded size, so that a long value is not in memory once per reader.
import { createTurns } from './turns.ts'

/** A long text that is read while it is sent; each read starts from the beginning. */
export interface LongText {
  /** The text in order, in pieces of bounded size. */
  readPieces(): AsyncIterable<string>
}

/** A long JSON text that is copied as it is stored, without being parsed. */
export interface LongJson {
  /** The text in order, in pieces of bounded size. */
  readJson(): AsyncIterable<string>
}

/** Roughly the size of one piece. */
const PIECE_CHARACTERS = 32_000

/** Whether a value is a long text that is read in pieces. */
export const isLongText = (value: unknown): value is LongText =>
  typeof value === 'object' && value !== null && 'readPieces' in value

const isLongJson = (value: unknown): value is LongJson =>
  typeof value === 'object' && value !== null && 'readJson' in value

/** A JSON string without its quotation marks. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Splits a text, never inside a surrogate pair: two escapes would be valid JSON, but not what was stored. */
function* cut(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const last = text.charCodeAt(from + PIECE_CHARACTERS - 1)
    const to = from + PIECE_CHARACTERS - (last >= 0xd800 && last <= 0xdbff ? 1 : 0)
    yield text.slice(from, to)
    from = to
  }
}

/** The JSON text of a string in pieces, each made of at most one piece of the string. */
function* stringParts(text: string): Generator<string> {
  if (text.length <= PIECE_CHARACTERS) return yield JSON.stringify(text)
  yield '"'
  for (const piece of cut(text)) yield escaped(piece)
  yield '"'
}

type Part = string | LongText | LongJson

function* partsOf(value: unknown): Generator<Part> {
  if (typeof value === 'string') yield* stringParts(value)
  else if (isLongText(value) || isLongJson(value)) yield value
  // Most of a long value consists of small ones, and generators cost several times more.
  else if (roomLeft(value, PIECE_CHARACTERS) >= 0) yield JSON.stringify(value) ?? 'null'
  else if (Array.isArray(value)) {
    yield '['
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ','
      yield* partsOf(item ?? null)
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null) {
    let isFirst = true
    yield '{'
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue
      yield `${isFirst ? '' : ','}${JSON.stringify(name)}:`
      isFirst = false
      yield* partsOf(field)
    }
    yield '}'
  }
}

/** Approximate number of characters that a field takes in addition to its text. */
const FIELD_CHARACTERS = 20

/** The rest of `room` characters after the value in one piece; negative if it does not fit or must be read. */
function roomLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length
  if (typeof value !== 'object' || value === null) return room
  if (isLongText(value) || isLongJson(value)) return -1
  let left = room - FIELD_CHARACTERS * Object.keys(value).length
  for (const field of Object.values(value)) {
    left = roomLeft(field, left)
    if (left < 0) return left
  }
  return left
}

/** Roughly how many characters the JSON text of plain data has, without writing it. */
export const roughLength = (value: unknown): number =>
  Number.MAX_SAFE_INTEGER - roomLeft(value, Number.MAX_SAFE_INTEGER)

/** The JSON text of plain data that is short; undefined if it should be sent in pieces. */
export const shortJson = (value: unknown): string | undefined =>
  roomLeft(value, PIECE_CHARACTERS) >= 0 ? JSON.stringify(value) : undefined

/** The JSON text of plain data without long texts, in pieces. */
export function* jsonPieces(value: unknown): Generator<string> {
  let text = ''
  for (const part of partsOf(value)) {
    if (typeof part !== 'string') throw new TypeError('Use longJsonPieces for long texts.')
    text += part
    if (text.length < PIECE_CHARACTERS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** The JSON text of a value that may contain long texts and long JSON, in pieces and in short turns of the event loop. */
export async function* longJsonPieces(value: unknown): AsyncGenerator<string> {
  const turn = createTurns()
  let text = ''
  for (const part of partsOf(value)) {
    if (typeof part === 'string') text += part
    else if ('readJson' in part) {
      for await (const read of part.readJson())
        for (const piece of cut(read)) {
          yield text + piece
          text = ''
        }
    } else {
      text += '"'
      // A read returns more than should be buffered for a client.
      for await (const read of part.readPieces())
        for (const piece of cut(read)) {
          yield text + escaped(piece)
          text = ''
        }
      text += '"'
    }
    if (text.length < PIECE_CHARACTERS) continue
    await turn()
    yield text
    text = ''
  }
  if (text !== '') yield text
}
