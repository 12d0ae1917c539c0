// The one decoder of texts: finds the encoding of their bytes, or that they are no text, decodes them and encodes them again.
import { isUtf8 } from 'node:buffer'
import { bitsAsUtf8, bitsOf, LANGUAGES, type Language } from './text-likelihood.ts'

/** The encoding of a text; `bom`: it begins with a byte order mark. */
export interface Encoding {
  /** The name in the Encoding Standard (`utf-8`, `gb18030`, `windows-1252`). */
  readonly name: string
  readonly bom: boolean
}

/** A decoded text. Bytes that mean nothing in its encoding are U+FFFD. */
export interface DecodedText {
  /** Without the byte order mark. */
  text: string
  encoding: Encoding
}

export const UTF_8: Encoding = { name: 'utf-8', bom: false }

/**
 * The encodings that are found by what the text would be, with the bits by which each is less likely than Windows-1252
 * before anything is known about the text.
 */
const CANDIDATES: readonly (readonly [name: string, language: () => Language, prior: number])[] = [
  ['windows-1252', LANGUAGES.western, 0],
  ['gb18030', LANGUAGES.simplified, 2],
  ['shift_jis', LANGUAGES.japanese, 2],
  ['euc-kr', LANGUAGES.korean, 2],
  ['big5', LANGUAGES.traditional, 3],
  ['windows-1251', LANGUAGES.cyrillic, 6],
  ['euc-jp', LANGUAGES.japanese, 4],
  ['koi8-u', LANGUAGES.cyrillic, 8],
  ['windows-1250', LANGUAGES.central, 8],
  ['windows-1253', LANGUAGES.greek, 4],
  ['windows-1254', LANGUAGES.turkish, 8],
  ['windows-1255', LANGUAGES.hebrew, 7],
  ['windows-1256', LANGUAGES.arabic, 5],
  ['windows-874', LANGUAGES.thai, 5],
  ['iso-8859-2', LANGUAGES.central, 11],
  ['iso-8859-7', LANGUAGES.greek, 8],
  ['iso-8859-5', LANGUAGES.cyrillic, 12],
  ['ibm866', LANGUAGES.cyrillic, 10],
  ['x-mac-cyrillic', LANGUAGES.cyrillic, 14],
  ['windows-1257', LANGUAGES.baltic, 10],
  ['macintosh', LANGUAGES.western, 10],
]
const UTF_16 = ['utf-16le', 'utf-16be'] as const
const UTF_16_PRIOR = 6
/** More bits per character mean that bytes with NUL are no text in UTF-16. */
const MAX_UTF_16_BITS = 12.5

/** Bytes of the text that are weighed, from each third of it. */
const SAMPLE_BYTES = 1_000
const SAMPLES = 3
/** Characters in UTF-8 that outweigh a byte that is none. */
const MIN_VALID_PER_REPLACED = 8

/**
 * The encoding of the bytes; null when they are not text. By the byte order mark, then UTF-8 and UTF-16, then what the text says
 * of itself, then the encoding in which the text is likeliest. A few bad bytes do not turn a text in UTF-8 into another one.
 */
export function detectEncoding(bytes: Uint8Array): Encoding | null {
  const mark = byteOrderMark(bytes)
  if (mark !== null) return { name: mark, bom: true }
  if (looksBinary(bytes)) {
    const name = utf16Of(bytes)
    return name === null ? null : { name, bom: false }
  }
  if (isUtf8(bytes)) return isIso2022(bytes) ? { name: 'iso-2022-jp', bom: false } : UTF_8
  return { name: declaredBy(bytes) ?? likeliest(bytes), bom: false }
}

/** Bytes at the beginning of a text that may declare its encoding. */
const DECLARING_BYTES = 2_048
/** How pages, XML, style sheets, and programs in Python and Ruby declare their encoding. */
const DECLARATIONS = [
  /^\s*(?=<).*?<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/is,
  /^<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]+)/i,
  /^@charset "([\w.:-]+)";/i,
  /^(?:#[^\n]*\n)?[ \t]*#[^\n]*coding[:=][ \t]*([\w.:-]+)/,
]

/** The encoding that a text declares at its beginning; null without one, or when the bytes do not fit it. */
export function declaredBy(bytes: Uint8Array): string | null {
  const beginning = Buffer.from(bytes.subarray(0, DECLARING_BYTES)).toString('latin1')
  for (const declaration of DECLARATIONS) {
    const label = declaration.exec(beginning)?.[1]
    const decoded = label === undefined ? null : decodeDeclared(bytes, label)
    if (decoded !== null) return decoded.encoding.name
  }
  return null
}

/** Decodes a text in the encoding that it, or a server, declares; null for an unknown one, or when the bytes do not fit it. */
export function decodeDeclared(bytes: Uint8Array, label: string): DecodedText | null {
  const name = encodingNamed(label)
  const decoded = name === null ? null : decodeTextAs(bytes, name)
  // What Windows adds to an ISO standard becomes control characters when the standard was declared.
  return decoded === null || /[\x80-\x9f]/.test(decoded.text) ? null : decoded
}

/**
 * Decodes bytes in the encoding that `detectEncoding` finds; null when they are not text. `chosen` is the name of an encoding
 * that a person has chosen instead: what the bytes mean in it is for them to judge.
 */
export function decodeText(bytes: Uint8Array, chosen: string | null = null): DecodedText | null {
  const encoding =
    chosen === null ? detectEncoding(bytes) : { name: chosen, bom: byteOrderMark(bytes) === chosen }
  return encoding === null ? null : { text: decode(bytes, encoding.name), encoding }
}

/** The name in the Encoding Standard of an encoding; null for a label that names none. */
export function encodingNamed(label: string): string | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/**
 * Decodes bytes in an encoding that a person, a program or a page names. Null when the bytes do not fit it.
 * @throws RangeError for a label that names no encoding.
 */
export function decodeTextAs(bytes: Uint8Array, label: string): DecodedText | null {
  const { encoding: name } = new TextDecoder(label)
  try {
    const text = decode(bytes, name, true)
    return { text, encoding: { name, bom: byteOrderMark(bytes) === name } }
  } catch {
    return null
  }
}

/** The encoding that a byte order mark names. */
export function byteOrderMark(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return null
}

/** What the code pages of DOS have from 0x80 on: 437 in America, 850 in Western Europe. Programs that pack files still use them for names. */
const DOS_PAGES = {
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
} as const

/** The encodings of names in archives that are not UTF-8: those of DOS and of Windows in East Asia. */
const NAME_CANDIDATES: readonly (readonly [
  name: string,
  language: () => Language,
  prior: number,
])[] = [
  ['cp850', LANGUAGES.western, 0],
  ['cp437', LANGUAGES.western, 1],
  ['ibm866', LANGUAGES.cyrillic, 3],
  ['gb18030', LANGUAGES.simplified, 2],
  ['shift_jis', LANGUAGES.japanese, 2],
  ['euc-kr', LANGUAGES.korean, 2],
  ['big5', LANGUAGES.traditional, 3],
  ['windows-1252', LANGUAGES.western, 3],
  ['windows-1251', LANGUAGES.cyrillic, 8],
]

const isDosPage = (name: string): name is keyof typeof DOS_PAGES => name in DOS_PAGES

/** The name of a file in an archive. Programs of DOS and Windows do not say which encoding they use. */
export function decodeFileName(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return decode(bytes, 'utf-8')
  let best = decode(bytes, 'utf-8')
  let fewest = bitsAsUtf8(best)
  for (const [name, language, prior] of NAME_CANDIDATES) {
    const text = isDosPage(name)
      ? Array.from(bytes, (byte) =>
          byte < 0x80 ? String.fromCharCode(byte) : DOS_PAGES[name].charAt(byte - 0x80),
        ).join('')
      : decode(bytes, name)
    const bits = prior + bitsOf(text, language(), fewest)
    if (bits >= fewest) continue
    best = text
    fewest = bits
  }
  return best
}

/** What Windows-1252 has where Latin-1 has control characters; five of them stay what they are. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

function decode(bytes: Uint8Array, name: string, fatal = false): string {
  // Some releases of Node decode it as Latin-1.
  if (name === 'windows-1252')
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      .toString('latin1')
      .replaceAll(/[\x80-\x9f]/g, (control) => WINDOWS_1252.charAt(control.charCodeAt(0) - 0x80))
  return new TextDecoder(name, { fatal }).decode(bytes)
}

/** Escape sequences that switch to Japanese characters (ISO-2022-JP); nothing else in a text contains them. */
function isIso2022(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!['\x1b$B', '\x1b$@', '\x1b(J'].some((switched) => start.includes(switched, 0, 'latin1')))
    return false
  try {
    return /[\u3040-\u30ff\u4e00-\u9fff]/.test(decode(bytes, 'iso-2022-jp', true))
  } catch {
    return false
  }
}

function utf16Of(bytes: Uint8Array): string | null {
  const sample = evenSample(bytes)
  if (sample.length === 0 || bytes.length % 2 !== 0) return null
  const [best] = UTF_16.map((name) => {
    const text = decode(sample, name)
    return { name, bits: bitsOf(text, LANGUAGES.any()) / text.length }
  }).sort((one, other) => one.bits - other.bits)
  return best !== undefined && best.bits <= MAX_UTF_16_BITS ? best.name : null
}

const evenSample = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(0, Math.min(bytes.length, SAMPLE_BYTES * SAMPLES) & ~1)

/** Lists of the letters that an alphabet has besides the Latin ones, as in a heading or a test of a program. No words look like them. */
const LETTER_LISTS = new Set(
  'åäö äöå æøå øæå äöü äöüß öäü õäöü éèà éèê éèêë àéèù àèìòù áéíóú áéíóúñ ãõç çãõ âêîôû ãõâêôç'.split(
    ' ',
  ),
)

/** Whether all that is not ASCII in a Western text is such lists; in other encodings they are rare words of other languages. */
function isLetterList(western: string): boolean {
  const words = western.toLowerCase().match(/[\u0080-\uffff]+/g) ?? []
  return words.length > 0 && words.every((word) => LETTER_LISTS.has(word))
}

function likeliest(bytes: Uint8Array): string {
  const sample = sampleOf(bytes)
  const utf8 = decode(sample, 'utf-8')
  if (isNearlyUtf8(utf8)) return 'utf-8'
  if (isLetterList(decode(sample, 'windows-1252'))) return 'windows-1252'
  let best = 'utf-8'
  let fewest = bitsAsUtf8(utf8)
  const weigh = (name: string, bits: number): void => {
    if (bits >= fewest) return
    best = name
    fewest = bits
  }
  for (const [name, language, prior] of CANDIDATES)
    weigh(name, prior + bitsOf(decode(sample, name), language(), fewest))
  // A longer text in UTF-16 holds NUL: its spaces and line ends do.
  if (bytes.length === sample.length && bytes.length % 2 === 0)
    for (const name of UTF_16)
      weigh(name, UTF_16_PRIOR + bitsOf(decode(bytes, name), LANGUAGES.any(), fewest))
  return best
}

/** Whether so few bytes had to be replaced that the other characters, which are valid only by intent, prove the encoding. */
function isNearlyUtf8(text: string): boolean {
  const replaced = text.split('\ufffd').length - 1
  const valid = (text.match(/[\u0080-\ufffc\u{10000}-\u{10ffff}]/gu) ?? []).length
  return valid >= MIN_VALID_PER_REPLACED * replaced
}

/** Pieces with bytes that are not ASCII, from the beginning and from later parts of a long text. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= SAMPLE_BYTES * SAMPLES) return bytes
  const pieces: Uint8Array[] = []
  for (let part = 0; part < SAMPLES; part += 1) {
    let index = Math.floor((bytes.length * part) / SAMPLES)
    const end = Math.floor((bytes.length * (part + 1)) / SAMPLES)
    // A part that begins within a character has the rest of it before its first piece.
    if (part > 0) index = pieceEnd(bytes, index, end)
    let taken = 0
    while (index < end && taken < SAMPLE_BYTES) {
      const high = nextHigh(bytes, index, end)
      if (high === end) break
      const start = pieceStart(bytes, index, high)
      const stop = pieceEnd(bytes, high, Math.min(end, start + SAMPLE_BYTES))
      pieces.push(bytes.subarray(start, stop))
      taken += stop - start
      index = stop
    }
  }
  return Buffer.concat(pieces)
}

/** Bytes below 0x30 (spaces, line ends, most punctuation) are no part of a longer character in any of the encodings. */
const isBetween = (byte: number | undefined): boolean => byte !== undefined && byte < 0x30
const CONTEXT_BYTES = 40

function nextHigh(bytes: Uint8Array, from: number, end: number): number {
  let index = from
  while (index < end && (bytes[index] ?? 0) < 0x80) index += 1
  return index
}

function pieceStart(bytes: Uint8Array, from: number, high: number): number {
  let start = high
  while (start > from && high - start < CONTEXT_BYTES && !isBetween(bytes[start - 1])) start -= 1
  return start
}

function pieceEnd(bytes: Uint8Array, high: number, end: number): number {
  let stop = high
  while (stop < end && !isBetween(bytes[stop])) stop += 1
  return Math.min(end, stop + 1)
}

/** Encodes a text in the encoding that it was read in; null when the encoding cannot represent it, or cannot be written. */
export function encodeText(text: string, { name, bom }: Encoding): Buffer | null {
  const content = bom ? `\ufeff${text}` : text
  if (name === 'utf-8') return Buffer.from(content, 'utf8')
  if (name === 'utf-16le') return Buffer.from(content, 'utf16le')
  if (name === 'utf-16be') return Buffer.from(content, 'utf16le').swap16()
  const table = tableOf(name)
  if (table === null) return null
  // Two bytes for each of the two halves of a character beyond U+FFFF.
  const bytes = Buffer.alloc(content.length * 2)
  let length = 0
  for (let index = 0; index < content.length; index += 1) {
    const unit = content.charCodeAt(index)
    const sequence = unit < 0x80 ? unit : (table[unit] ?? 0)
    if (sequence > 0xff) length = bytes.writeUInt16BE(sequence, length)
    else if (sequence > 0 || unit === 0) length = bytes.writeUInt8(sequence, length)
    else {
      const code = content.codePointAt(index) ?? 0
      if (name !== 'gb18030' || code < 0x10000) return null
      for (const byte of fourBytes(code)) length = bytes.writeUInt8(byte, length)
      index += 1
    }
  }
  const encoded = bytes.subarray(0, length)
  // Some bytes below 0x80 mean other characters in a few encodings.
  return decode(encoded, name) === content ? encoded : null
}

const SINGLE_BYTE = /^(?:windows-|iso-8859-|koi8-|ibm866|macintosh|x-mac-)/
const MULTI_BYTE = /^(?:gb18030|gbk|big5|euc-jp|euc-kr|shift_jis)$/
const tables = new Map<string, Uint16Array>()

/** The one or two bytes of each character, by its code; null for encodings with states, which are not written. */
function tableOf(name: string): Uint16Array | null {
  if (!SINGLE_BYTE.test(name) && !MULTI_BYTE.test(name)) return null
  const known = tables.get(name)
  if (known !== undefined) return known
  const sequences: number[] = []
  for (let byte = 0x80; byte < 0x100; byte += 1) sequences.push(byte)
  if (MULTI_BYTE.test(name))
    for (let lead = 0x81; lead < 0xff; lead += 1)
      for (let trail = 0x40; trail < 0xff; trail += 1) sequences.push((lead << 8) | trail)
  const table = codesOf(name, sequences)
  tables.set(name, table)
  return table
}

/** Decodes all sequences at once, a line each: a line end is no part of a longer character. */
function codesOf(name: string, sequences: readonly number[]): Uint16Array {
  const bytes = new Uint8Array(sequences.length * 3)
  let length = 0
  for (const sequence of sequences) {
    if (sequence > 0xff) bytes[length++] = sequence >> 8
    bytes[length++] = sequence & 0xff
    bytes[length++] = 0x0a
  }
  const text = decode(bytes.subarray(0, length), name)
  const table = new Uint16Array(0x10000)
  let start = 0
  for (const sequence of sequences) {
    const end = text.indexOf('\n', start)
    const code = text.charCodeAt(start)
    // Several characters are no character, or one beyond U+FFFF.
    if (end === start + 1 && code !== 0xfffd && table[code] === 0) table[code] = sequence
    start = end + 1
  }
  return table
}

/** GB18030 counts the characters beyond U+FFFF on in four bytes; the others of four bytes are not written. */
function fourBytes(code: number): readonly number[] {
  const index = code - 0x10000 + 189_000
  return [
    0x81 + Math.floor(index / 12_600),
    0x30 + (Math.floor(index / 1_260) % 10),
    0x81 + (Math.floor(index / 10) % 126),
    0x30 + (index % 10),
  ]
}

const SNIFFED_BYTES = 8_192

/**
 * True for NUL bytes, and for too many control characters that text does not use: more than one in ten in valid UTF-8, more
 * than one in two hundred otherwise.
 */
export function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SNIFFED_BYTES)
  if (sample.includes(0)) return true
  let odd = 0
  for (const byte of sample) if (isOddControl(byte)) odd++
  return odd > sample.length / (isUtf8(withoutCutCharacter(sample)) ? 10 : 200)
}

const isOddControl = (byte: number): boolean =>
  byte === 127 || (byte < 32 && ![7, 8, 9, 10, 12, 13, 27].includes(byte))

/** The sample without a multi-byte character that is cut off at its end. */
export function withoutCutCharacter(sample: Uint8Array): Uint8Array {
  if (sample.length < SNIFFED_BYTES) return sample
  let end = sample.length
  while (end > sample.length - 4 && ((sample[end - 1] ?? 0) & 0xc0) === 0x80) end--
  return sample.subarray(0, Math.max(0, end - 1))
}
