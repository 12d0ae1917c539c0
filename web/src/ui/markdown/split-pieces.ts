// Splits one long table, list or paragraph into pieces that can be parsed and drawn on their own, so that while it grows only its last piece is.

import { isFormula } from '../../../../server/protocol/markdown/math-text.ts'
import { isTableHead } from '../../../../server/protocol/markdown/split-blocks.ts'

/** Part of a block. */
export interface Piece {
  /** Where it begins in the block. */
  readonly start: number
  readonly text: string
  /** What stands before it when it is parsed alone, so that it is read as the rest of a paragraph; empty for the first piece, and for rows and items. */
  readonly lead: string
}

/** A block in pieces: rows below the head of a table, items of a list, or parts of a paragraph. */
export interface Pieces {
  readonly text: string
  readonly kind: 'table' | 'list' | 'paragraph'
  /** The two lines that begin a table; empty for others. */
  readonly head: string
  /** What stands behind each piece when it is parsed alone: an item that says that a list has space between its items. */
  readonly tail: string
  readonly pieces: readonly Piece[]
}

/** Rows that are parsed together and are one body of the table: fewer cost more parsing of the head, more are parsed again with each change of the last. */
const PIECE_ROWS = 6
/** A piece of a paragraph ends at the first place after so many characters at which nothing is open. */
const PIECE_CHARACTERS = 500
/** It ends at the next space after so many even if something is open: what does not close for so long never will. */
const MAX_PIECE_CHARACTERS = 4_000

/** What begins with a dollar and does not end within so many is no formula. */
const MAX_FORMULA_CHARACTERS = 1_000

const ROW = /^ {0,3}\|/
/** A row is parsed without the others, because nothing in a cell reaches beyond its line. */
function splitTable(text: string): Pieces | null {
  if (!ROW.test(text)) return null
  const lines = text.trimEnd().split('\n')
  const [first = '', second] = lines
  if (!isTableHead(first, second)) return null
  const head = `${first}\n${second}`
  let start = head.length + 1
  const pieces: Piece[] = []
  for (let row = 2; row < lines.length; row += PIECE_ROWS) {
    const rows = lines.slice(row, row + PIECE_ROWS)
    if (!rows.every((line) => ROW.test(line))) return null
    const piece = rows.join('\n')
    pieces.push({ start, text: piece, lead: '' })
    start += piece.length + 1
  }
  return { text, kind: 'table', head, tail: '', pieces }
}

/** Items are parsed together until they have so many characters. */
const PIECE_ITEM_CHARACTERS = 400
/** The mark of an item of the list itself: what follows it begins a paragraph. */
const ITEM = /^(?:([-*+])|\d{1,9}([.)])) {1,4}(?=[^\s#>|<])/
/** The beginning of a mark, at the end of what has arrived. */
const PART_OF_MARK = /^(?:[-*+]|\d{1,9}[.)]?)$/
/** Three marks and nothing else; an item may begin with bold text. */
const RULE = /^([-*])(?:[ \t]*\1){2,}[ \t]*$/
/** What may reach from one item into another one: comments, formulas, definitions, and fences, which are counted in the whole text. */
const BEYOND_ITEM = /<[!?]|`{3}|~{3}|\$\$|\\[([]|\\begin\b|\]:/
const indentOf = (line: string): number => line.length - line.trimStart().length

/** An item is parsed without the others: it begins wherever its mark stands at the beginning of a line, whatever is open before it. */
function splitList(text: string): Pieces | null {
  const first = ITEM.exec(text)
  if (first === null || BEYOND_ITEM.test(text)) return null
  const lines = text.trimEnd().split('\n')
  const pieces: Piece[] = []
  let [start, at, indent] = [0, 0, 0]
  let isAfterBlank = false
  let isLoose = false
  for (const [index, line] of lines.entries()) {
    const item = ITEM.exec(line)
    const isBlank = line.trim() === ''
    if (item !== null) {
      if (item[1] !== first[1] || item[2] !== first[2] || RULE.test(line)) return null
      indent = item[0].length
      isLoose ||= isAfterBlank
      if (at - start > PIECE_ITEM_CHARACTERS) {
        pieces.push({ start, text: text.slice(start, at).trimEnd(), lead: '' })
        start = at
      }
    } else if (index === lines.length - 1 && PART_OF_MARK.test(line)) isLoose ||= isAfterBlank
    // Only a blank line between items says that there is space between all.
    else if (!isBlank && (isAfterBlank || line.includes('\t') || indentOf(line) < indent))
      return null
    isAfterBlank = isBlank
    at += line.length + 1
  }
  pieces.push({ start, text: text.slice(start).trimEnd(), lead: '' })
  return { text, kind: 'list', head: '', tail: isLoose ? `\n\n${first[0]}0` : '', pieces }
}

/** A line that is, or may make its paragraph, something else: code, a list, a heading, a quotation, a rule, a table, HTML, a formula or a definition. */
const OTHER_LINE =
  /^(?: {4}| {0,3}\t| {0,3}(?:[-+*](?:\s|$)|>|#{1,6}(?:\s|$)|`{3}|~{3}|=+\s*$|[-_*](?:\s*[-_*])*\s*$|\d{1,9}[.)](?:\s|$)|<(?!https?:)[a-z/!?]|\$\$|\\\[|\\begin\b|\[[^\]]*\]:|\|)|(?=[^-]*-)[\s|:-]+$)/i

/** Whether all lines are text of a paragraph, from the line at `from` on. */
function isParagraph(text: string, from: number): boolean {
  let start = text.lastIndexOf('\n', from) + 1
  for (;;) {
    const end = text.indexOf('\n', start)
    if (OTHER_LINE.test(text.slice(start, end < 0 ? undefined : end))) return false
    if (end < 0) return true
    start = end + 1
  }
}

/** What may stand between two pieces, and what may be open. */
const SIGN = /\s+|`+|\*+|_+|~+|[[\]【】<$\\@]|:\/\/|www\.|[。！？；，、]/gi
const LETTER = /[\p{L}\p{N}]/u
const SPACE = /\s/
const MARK = /[\p{P}\p{S}]/u
const CJK =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303F\uFF00-\uFFEF]/u
/** Punctuation beside which CommonMark does not let emphasis begin or end. */
const isWesternMark = (character: string): boolean => MARK.test(character) && !CJK.test(character)
/** What has no space around it, but is no letter of a language without spaces. */
const isLetter = (character: string): boolean =>
  !SPACE.test(character) && !MARK.test(character) && !CJK.test(character)
/** The destination of a link after its text. */
const DESTINATION = /\(\s*(?:<[^<>\n]*>|[^\s()<>]+)?(?:\s+"[^"\n\\]*")?\s*\)/y
const TAG = /<(?:(\/?)([a-z]+)\s*\/?|https?:[^<>\s]*)>/iy
/** Tags that need no end. */
const VOID_TAG = /^(?:br|hr|img)$/i

/** Something is open that this does not understand: nothing ends before the piece does. */
const UNKNOWN = '?'

/** How far a piece is read. */
interface Reading {
  readonly text: string
  /** What is open, innermost last: runs of emphasis, brackets and tags. */
  readonly open: string[]
  at: number
}

/** A run of asterisks, underscores or tildes: opens or closes emphasis, or neither, by the rules of CommonMark and `cjkEmphasis`. */
function readRun(reading: Reading, run: string, start: number): void {
  const { text, open } = reading
  const before = text.charAt(start - 1) || ' '
  const after = text.charAt(start + run.length) || ' '
  const isLeft = !SPACE.test(after) && (!isWesternMark(after) || !isLetter(before))
  const isRight = !SPACE.test(before) && (!isWesternMark(before) || !isLetter(after))
  const isWord = run.startsWith('_')
  const opens = isLeft && !(isWord && isRight && !MARK.test(before))
  const closes = isRight && !(isWord && isLeft && !MARK.test(after))
  // A single tilde stands between the ends of a range.
  if (run === '~') return
  if (closes && open.at(-1) === run) open.pop()
  else if (closes && open.some((other) => other[0] === run[0])) open.push(UNKNOWN)
  else if (opens) open.push(run)
}

/** A bracket or what follows it. */
function readBracket(reading: Reading, sign: string): void {
  const { text, open } = reading
  if (sign === '[' || sign === '【') open.push(sign)
  else if (open.at(-1) === (sign === ']' ? '[' : '【')) {
    open.pop()
    if (sign === '】' || text.charAt(reading.at) !== '(') return
    DESTINATION.lastIndex = reading.at
    // A link in the text of a link, or no link at all.
    if (open.includes('[') || !DESTINATION.test(text)) open.push(UNKNOWN)
    else reading.at = DESTINATION.lastIndex
  } else if (open.length > 0) open.push(UNKNOWN)
}

function readTag(reading: Reading, start: number): void {
  const { text, open } = reading
  if (!/[a-z/!?]/i.test(text.charAt(start + 1) || 'a')) return
  TAG.lastIndex = start
  const tag = TAG.exec(text)
  if (tag === null) {
    open.push(UNKNOWN)
    return
  }
  reading.at = TAG.lastIndex
  const name = tag[2]?.toLowerCase() ?? ''
  if (name === '' || VOID_TAG.test(name)) return
  if (tag[1] === '') open.push(`<${name}`)
  else if (open.at(-1) === `<${name}`) open.pop()
  else open.push(UNKNOWN)
}

/** Skips to the end of what `end` closes; if that is to come, nothing ends before it. */
function skipTo(reading: Reading, end: number, length: number): void {
  if (end < 0) reading.open.push(UNKNOWN)
  else reading.at = end + length
}

/** A dollar begins a formula, or stands for itself. */
function readDollar(reading: Reading, start: number): void {
  const { text, open } = reading
  const near = text.slice(start + 1, start + 1 + MAX_FORMULA_CHARACTERS)
  const end = near.search(/[$\n`]/)
  const after = near.charAt(end + 1)
  if (end < 0 ? near.length < MAX_FORMULA_CHARACTERS : end === 0 || after === '') open.push(UNKNOWN)
  else if (near[end] === '$' && isFormula(near.slice(0, end), text.charAt(start - 1), after))
    reading.at = start + end + 2
}

function readSign(reading: Reading, sign: string, start: number): void {
  const { text, open } = reading
  if (sign.startsWith('`')) {
    const end = new RegExp(`(?<!\`)${sign}(?!\`)`, 'g')
    end.lastIndex = reading.at
    const found = end.exec(text)
    // At the end of what has arrived, the run may still grow.
    const isWhole = found !== null && found.index + sign.length < text.length
    skipTo(reading, isWhole ? found.index : -1, sign.length)
  } else if (/^[*_~]/.test(sign)) readRun(reading, sign, start)
  else if (/^[[\]【】]/.test(sign)) readBracket(reading, sign)
  else if (sign === '<') readTag(reading, start)
  else if (sign === '$') readDollar(reading, start)
  else if (sign === '\\') {
    const escaped = text.charAt(start + 1)
    if (escaped === '(') skipTo(reading, text.indexOf('\\)', start), 2)
    else if (escaped === '[' || text.startsWith('begin{', start + 1)) open.push(UNKNOWN)
    else reading.at = start + 2
  }
}

/** Where the piece that begins at `from` ends: nothing that is open there reaches further. null: with the text. */
function endOfPiece(text: string, from: number): { end: number; lead: string } | null {
  const reading: Reading = { text, open: [], at: from }
  // No space follows a URL in some languages. The parser reads it to the next space.
  let holdsUrl = false
  for (;;) {
    SIGN.lastIndex = reading.at
    const found = SIGN.exec(text)
    if (found === null) return null
    const { 0: sign, index } = found
    reading.at = SIGN.lastIndex
    const isSpace = /^\s/.test(sign)
    if (isSpace) {
      holdsUrl = false
    } else if (!/^[。！？；，、]$/.test(sign)) {
      if (/^(?:@|:\/\/|www\.)$/i.test(sign)) holdsUrl = true
      // Perhaps it is part of the URL and begins no code.
      else if (holdsUrl && sign.startsWith('`')) reading.open.push(UNKNOWN)
      else if (!reading.open.includes(UNKNOWN)) readSign(reading, sign, index)
      continue
    }
    const length = index - from
    const after = text.charAt(reading.at)
    if (after === '' || length < PIECE_CHARACTERS) continue
    const isForced = length >= MAX_PIECE_CHARACTERS
    if (isSpace && (reading.open.length === 0 || isForced)) return { end: index, lead: 'x' }
    if (!isSpace && !holdsUrl && reading.open.length === 0 && LETTER.test(after))
      return { end: reading.at, lead: sign }
  }
}

/** Reuses the pieces of a shorter paragraph, except its last. */
function splitParagraph(text: string, before: Pieces | null): Pieces | null {
  const last =
    before?.kind === 'paragraph' && text.startsWith(before.text) ? before.pieces.at(-1) : undefined
  const pieces = last === undefined ? [] : [...(before?.pieces.slice(0, -1) ?? [])]
  let { start, lead } = last ?? { start: 0, lead: '' }
  if (!isParagraph(text, start)) return null
  for (;;) {
    const next = endOfPiece(text, start)
    pieces.push({ start, lead, text: text.slice(start, next?.end) })
    if (next === null) break
    start = next.end
    lead = next.lead
  }
  return { text, kind: 'paragraph', head: '', tail: '', pieces }
}

/**
 * The pieces of a block of Markdown; null for a block that is drawn whole: a short list or paragraph, or what is neither a table
 * nor one of these. A piece depends only on the text before its end, so the pieces of a text that grows are those of the complete text.
 * @param before the result for the beginning of the text
 */
export function splitPieces(text: string, before: Pieces | null = null): Pieces | null {
  const table = splitTable(text)
  if (table !== null) return table
  if (text.length <= PIECE_CHARACTERS) return null
  return splitList(text) ?? splitParagraph(text.trimEnd(), before)
}
