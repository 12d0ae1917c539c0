// Splits Markdown into top-level blocks, so that while an answer streams in, only its last block is parsed and drawn again.

import { mathEnvironmentAt } from './math-text.ts'
import {
  FENCE_START,
  LESS_NESTING,
  type Nesting,
  type OpenFence,
  openFence,
} from './nested-fences.ts'

/**
 * A fenced code block has a kind of its own: it needs no Markdown parser, however long it grows. So does what the parser
 * cannot see whole: definitions of footnotes, which other blocks refer to, foldable sections, and tables in HTML.
 */
export type Block = {
  /** Where the block begins in the text. */
  start: number
} & (
  | { kind: 'markdown'; text: string }
  | { kind: 'code'; language: string; code: string; closed: boolean }
  | { kind: 'footnote'; id: string; text: string }
  | { kind: 'details'; summary: string; text: string; open: boolean }
  | { kind: 'table'; text: string }
)

const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
const TOP_LEVEL_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/
/** An item that ends the paragraph before it: with text, and of a numbered list the first. */
const FIRST_ITEM = /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/
const DOLLAR_FENCE = /^\s*\$\$\s*$/
const BRACKET_FENCE = /^\s*\\\[/
const FOOTNOTE_START = /^ {0,3}\[\^([^\]\s]{1,100})\]:[ \t]*(.*)$/
const DETAILS_START = /^ {0,3}<details((?:\s[^<>]*)?)>(.*)$/i
/** A tag alone or with further ones; "<table> is the tag for …" is text. */
const TABLE_START = /^ {0,3}<table(?:\s[^<>]*)?>\s*(?:<|$)/i
const TABLE_TAG = /<(\/?)table(?:\s[^<>]*)?>/gi
const DETAILS_TAG = /<(\/?)details(?:\s[^<>]*)?>/gi

/** A longer list is split between its items, so that no block grows without bound. */
const LONG_LIST_CHARACTERS = 3_000
/** A formula that does not end within this many characters is not a formula. */
const MAX_FORMULA_CHARACTERS = 2_000

/** An element of HTML that is open: its lines, and how many elements of its kind are open. */
type Section = { lines: string[]; depth: number }
type Details = Section & { open: boolean; fence: OpenFence | null; isNested: boolean }

/** Adds one line to an element. Returns the text after its end, or null while it continues. */
function growSection(section: Section, line: string, tags: RegExp): string | null {
  for (const tag of line.matchAll(tags)) {
    section.depth += tag[1] === '/' ? -1 : 1
    if (section.depth === 0) {
      section.lines.push(line.slice(0, tag.index))
      return line.slice(tag.index + tag[0].length)
    }
  }
  section.lines.push(line)
  return null
}

/** The same for a foldable section, which may contain code. `after` is the line that follows. */
function growDetails(
  details: Details,
  line: string,
  after: string | undefined,
  nesting: Nesting,
): string | null {
  if (details.fence !== null) {
    if (details.fence.closes(line, after)) details.fence = null
    else if (details.fence.isNested()) details.isNested = true
    details.lines.push(line)
    return null
  }
  const opens = FENCE_START.exec(line)
  if (opens === null) return growSection(details, line, DETAILS_TAG)
  details.fence = openFence(opens[2] ?? '```', opens[3] ?? '', nesting)
  details.lines.push(line)
  return null
}

function detailsBlock(details: Details, start: number): Block {
  const raw = details.lines.join('\n').trim()
  const opened = /^<summary(?:\s[^<>]*)?>/i.exec(raw)
  if (opened === null) return { kind: 'details', start, open: details.open, summary: '', text: raw }
  const inner = raw.slice(opened[0].length)
  const end = inner.search(/<\/summary>/i)
  return {
    kind: 'details',
    start,
    open: details.open,
    summary: (end < 0 ? inner : inner.slice(0, end)).trim(),
    text: end < 0 ? '' : inner.slice(end + '</summary>'.length).trim(),
  }
}

const DELIMITER_ROW = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

const cellsOf = (row: string): number =>
  row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .replaceAll(/\\[\s\S]/g, '')
    .split('|').length

/** Whether a line and the next one begin a table. */
export const isTableHead = (line: string, next: string | undefined): boolean =>
  next !== undefined &&
  (line.includes('|') || next.includes('|')) &&
  DELIMITER_ROW.test(next) &&
  cellsOf(line) === cellsOf(next)

/** How a text is split. */
export interface Splitting {
  /** Whether the text is still streaming, so that what is open at its end may close. */
  growing?: boolean
  nesting?: Nesting
  /** Whether tables in HTML are blocks of their own. */
  tables?: boolean
}

/** What is open and needs no Markdown parser: every line is its own until it ends. */
type OpenElement =
  | { kind: 'code'; fence: OpenFence; language: string; code: string[] }
  | { kind: 'details'; details: Details }
  | { kind: 'table'; table: Section }

/** Markdown, or the definition of a footnote, that further lines may continue. */
interface OpenText {
  lines: string[]
  /** Characters. */
  length: number
  /** Whether its last line is blank. */
  isAfterBlank: boolean
  isList: boolean
  /** What its first line is: a heading ends with its line, HTML with a blank line. */
  isHeading: boolean
  isHtml: boolean
  /** The name of the footnote that it defines. */
  footnote: string | null
}

const noText = (): OpenText => ({
  lines: [],
  length: 0,
  isAfterBlank: false,
  isList: false,
  isHeading: false,
  isHtml: false,
  footnote: null,
})

/** Where splitting a text has got to. The functions below are its transitions. */
interface Splitter {
  readonly text: string
  readonly nesting: Nesting
  readonly tables: boolean
  readonly blocks: Block[]
  /** Where the open block begins in the text. */
  start: number
  open: OpenText
  element: OpenElement | null
  /** What ends the formula in which the line is: two dollars, a bracket or the end of an environment. */
  mathEnd: string | null
  /** Where the next end of each kind is, or -1, so that the text is searched once for each. */
  readonly mathEnds: Map<string, number>
}

/** A line with its place in the text, and the line that follows. */
interface Line {
  line: string
  start: number
  end: number
  next: string | undefined
}

/** Ends the open text, if there is one. */
function closeText(splitter: Splitter): void {
  const { open, start, blocks } = splitter
  const text = open.lines.join('\n')
  if (open.footnote !== null) blocks.push({ kind: 'footnote', start, id: open.footnote, text })
  else if (open.lines.length > 0) blocks.push({ kind: 'markdown', start, text })
  splitter.open = noText()
}

/** Ends an element. What follows its end in the line begins the next block. */
function closeElement(splitter: Splitter, block: Block, after: string, lineEnd: number): void {
  splitter.blocks.push(block)
  splitter.element = null
  if (after.trim() === '') return
  splitter.start = lineEnd - after.length
  splitter.open.lines.push(after)
}

const codeBlock = (
  { language, code }: { language: string; code: string[] },
  start: number,
  closed: boolean,
): Block => ({ kind: 'code', start, language, code: code.join('\n'), closed })

/** Adds a line to the open element. */
function continueElement(
  splitter: Splitter,
  element: OpenElement,
  { line, end, next }: Line,
): void {
  const { start, nesting } = splitter
  if (element.kind === 'code') {
    if (element.fence.closes(line, next))
      closeElement(splitter, codeBlock(element, start, true), '', end)
    else element.code.push(line)
  } else if (element.kind === 'details') {
    const after = growDetails(element.details, line, next, nesting)
    if (after !== null) closeElement(splitter, detailsBlock(element.details, start), after, end)
  } else if (line.trim() !== '') {
    // A blank line would end the HTML of a table.
    const { table } = element
    const after = growSection(table, line, TABLE_TAG)
    if (after === null) return
    const text = `${table.lines.join('\n')}</table>`
    closeElement(splitter, { kind: 'table', start, text }, after, end)
  }
}

/** Ends the open text, and begins a block at this place. */
function beginBlock(splitter: Splitter, start: number, element: OpenElement | null): void {
  closeText(splitter)
  splitter.start = start
  splitter.element = element
}

/** Begins an element, or the definition of a footnote, if the line does. */
function beginElement(splitter: Splitter, at: Line): boolean {
  const { line, start, end, next } = at
  const { open, nesting } = splitter
  const opens = FENCE_START.exec(line)
  // A fence indented inside a list belongs to its item and is left to the parser.
  if (
    opens !== null &&
    !((open.isList || open.footnote !== null) && (opens[1]?.length ?? 0) > 1) &&
    !(open.footnote !== null && line.startsWith('    '))
  ) {
    const language = (opens[3] ?? '').toLowerCase()
    const fence = openFence(opens[2] ?? '```', language, nesting)
    beginBlock(splitter, start, { kind: 'code', fence, language, code: [] })
    return true
  }
  const folds = DETAILS_START.exec(line)
  if (folds !== null) {
    const isOpen = /\sopen\b/i.test(folds[1] ?? '')
    const details = { open: isOpen, lines: [], depth: 1, fence: null, isNested: false }
    const element: OpenElement = { kind: 'details', details }
    beginBlock(splitter, start, element)
    continueElement(splitter, element, { line: folds[2] ?? '', start, end, next })
    return true
  }
  if (splitter.tables && TABLE_START.test(line)) {
    const element: OpenElement = { kind: 'table', table: { lines: [], depth: 0 } }
    beginBlock(splitter, start, element)
    continueElement(splitter, element, at)
    return true
  }
  const defines = FOOTNOTE_START.exec(line)
  if (defines === null) return false
  beginBlock(splitter, start, null)
  splitter.open.footnote = defines[1] ?? ''
  splitter.open.lines.push(defines[2] ?? '')
  return true
}

/** A further paragraph of a footnote is indented; the first one may continue without. False: the line is not part of one. */
function growFootnote(splitter: Splitter, line: string): boolean {
  const { open } = splitter
  if (open.footnote === null) return false
  if (open.isAfterBlank && !/^(?: {2,}|\t)/.test(line)) {
    closeText(splitter)
    return false
  }
  open.lines.push(line.replace(/^(?: {1,4}|\t)/, ''))
  open.isAfterBlank = false
  return true
}

/** Begins a formula if the line does and the end of the formula is near enough. */
function beginMath(splitter: Splitter, { line, start }: Line): void {
  if (DOLLAR_FENCE.test(line)) {
    splitter.mathEnd = '$$'
    return
  }
  const { text, mathEnds } = splitter
  const environment = mathEnvironmentAt(line)
  const end = BRACKET_FENCE.test(line) ? '\\]' : environment && `\\end{${environment}}`
  if (!end || line.includes(end)) return
  let found = mathEnds.get(end) ?? -2
  if (found !== -1 && found < start) found = text.indexOf(end, start)
  mathEnds.set(end, found)
  if (found >= 0 || text.length - start < MAX_FORMULA_CHARACTERS) splitter.mathEnd = end
}

/** Adds a line of Markdown to the open text, or begins the next one. */
function addToText(splitter: Splitter, at: Line): void {
  const { line } = at
  const { isList, isAfterBlank, length, isHeading, isHtml, lines } = splitter.open
  const continuesList = isList && (LIST_ITEM.test(line) || /^(?: {2,}|\t)/.test(line))
  if (isAfterBlank && !continuesList && splitter.mathEnd === null) closeText(splitter)
  else if (isList && length > LONG_LIST_CHARACTERS && TOP_LEVEL_ITEM.test(line)) closeText(splitter)
  else if (lines.length > 0 && !isList && !isHtml && splitter.mathEnd === null)
    if (
      isHeading ||
      HEADING.test(line) ||
      FIRST_ITEM.test(line) ||
      (/^ {0,3}\|/.test(line) && isTableHead(line, at.next))
    )
      closeText(splitter)
  const { open, mathEnd } = splitter
  if (open.lines.length === 0) {
    open.isList = LIST_ITEM.test(line)
    open.isHeading = HEADING.test(line)
    open.isHtml = /^ {0,3}</.test(line)
    splitter.start = at.start
  }
  if (mathEnd === null) beginMath(splitter, at)
  else if (mathEnd === '$$' ? DOLLAR_FENCE.test(line) : line.includes(mathEnd))
    splitter.mathEnd = null
  open.lines.push(line)
  open.length += line.length
  open.isAfterBlank = false
}

function addLine(splitter: Splitter, at: Line): void {
  const { open, element } = splitter
  if (element !== null) continueElement(splitter, element, at)
  else if (splitter.mathEnd !== null) {
    if (!growFootnote(splitter, at.line)) addToText(splitter, at)
  } else if (at.line.trim() === '') {
    open.isAfterBlank = open.lines.length > 0
    if (open.isAfterBlank) open.lines.push(at.line)
  } else if (!beginElement(splitter, at) && !growFootnote(splitter, at.line))
    addToText(splitter, at)
}

/** Ends what is still open at the end of the text. */
function closeAll(splitter: Splitter): void {
  const { element, start, blocks } = splitter
  if (element === null) closeText(splitter)
  else if (element.kind === 'code') blocks.push(codeBlock(element, start, false))
  else if (element.kind === 'details') blocks.push(detailsBlock(element.details, start))
  else blocks.push({ kind: 'table', start, text: element.table.lines.join('\n') })
}

/** Linear in the text. Joining the blocks loses nothing but blank lines between them and in tables. */
export function splitBlocks(
  text: string,
  from = 0,
  { growing = false, nesting = 'guessed', tables = true }: Splitting = {},
): Block[] {
  const splitter: Splitter = {
    text,
    nesting,
    tables,
    blocks: [],
    start: from,
    open: noText(),
    element: null,
    mathEnd: null,
    mathEnds: new Map(),
  }
  let start = from
  const source = text.slice(from).split('\n')
  for (const [index, line] of source.entries()) {
    const end = start + line.length
    addLine(splitter, { line, start, end, next: source[index + 1] })
    start = end + 1
  }
  // What has not ended was perhaps read wrongly. The rest of the text is read once more, so this stays linear.
  const { element } = splitter
  const again = (options: Splitting): Block[] => [
    ...splitter.blocks,
    ...splitBlocks(text, splitter.start, options),
  ]
  if (!growing && nesting !== 'none' && element !== null && isNested(element))
    return again({ nesting: LESS_NESTING[nesting], tables })
  if (!growing && element?.kind === 'table') return again({ nesting, tables: false })
  closeAll(splitter)
  return splitter.blocks
}

/** Whether fences within the element were read as nested, which was a guess. */
const isNested = (element: OpenElement): boolean =>
  element.kind === 'code'
    ? element.fence.isNested()
    : element.kind === 'details' && element.details.isNested

/** A text with its blocks, kept so that a longer text only needs its last block split again. */
export type SplitText = { text: string; growing: boolean; blocks: readonly Block[] }

/** The blocks of a text that has grown, or stopped growing: reuses all blocks of `before` except the last. */
export function growBlocks(before: SplitText | null, text: string, growing: boolean): SplitText {
  if (before?.text === text && before.growing === growing) return before
  const last = before?.growing === true ? before.blocks.at(-1) : undefined
  if (before === null || last === undefined || !text.startsWith(before.text))
    return { text, growing, blocks: splitBlocks(text, 0, { growing }) }
  const blocks = [...before.blocks.slice(0, -1), ...splitBlocks(text, last.start, { growing })]
  return { text, growing, blocks }
}
