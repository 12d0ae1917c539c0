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

/** How a text is split. */
export interface Splitting {
  /** Whether the text is still streaming, so that what is open at its end may close. */
  growing?: boolean
  nesting?: Nesting
  /** Whether tables in HTML are blocks of their own. */
  tables?: boolean
}

/** Linear in the text. Joining the blocks loses nothing but blank lines between them and in tables. */
export function splitBlocks(
  text: string,
  from = 0,
  { growing = false, nesting = 'guessed', tables = true }: Splitting = {},
): Block[] {
  const blocks: Block[] = []
  let position = from
  let start = from
  let lines: string[] = []
  let length = 0
  let afterBlank = false
  let inList = false
  /** What ends the formula in which the line is: two dollars, a bracket or the end of an environment. */
  let mathEnd: string | null = null
  let fence: { open: OpenFence; language: string; code: string[] } | null = null
  let footnote: string | null = null
  let details: Details | null = null
  let table: Section | null = null
  const mathEnds = new Map<string, number>()

  const close = (): void => {
    const body = lines.join('\n')
    if (footnote !== null) blocks.push({ kind: 'footnote', start, id: footnote, text: body })
    else if (lines.length > 0) blocks.push({ kind: 'markdown', start, text: body })
    lines = []
    length = 0
    inList = false
    afterBlank = false
    footnote = null
  }
  const closeFence = (closed: boolean): void => {
    if (fence === null) return
    const { language, code } = fence
    blocks.push({ kind: 'code', start, language, code: code.join('\n'), closed })
    fence = null
  }
  /** A further paragraph of a footnote is indented; the first one may continue without. False: the line is not part of one. */
  const growFootnote = (line: string): boolean => {
    if (footnote === null) return false
    if (afterBlank && !/^(?: {2,}|\t)/.test(line)) {
      close()
      return false
    }
    lines.push(line.replace(/^(?: {1,4}|\t)/, ''))
    afterBlank = false
    return true
  }
  /** Adds `line`, which ends at `lineEnd`, to a foldable section. What follows its end in the line begins the next block. */
  const continueDetails = (
    open: Details,
    line: string,
    next: string | undefined,
    lineEnd: number,
  ): void => {
    const after = growDetails(open, line, next, nesting)
    if (after === null) return
    blocks.push(detailsBlock(open, start))
    details = null
    if (after.trim() === '') return
    start = lineEnd - after.length
    lines.push(after)
  }
  /** The same for a table. A blank line would end its HTML. */
  const continueTable = (open: Section, line: string, lineEnd: number): void => {
    if (line.trim() === '') return
    const after = growSection(open, line, TABLE_TAG)
    if (after === null) return
    blocks.push({ kind: 'table', start, text: `${open.lines.join('\n')}</table>` })
    table = null
    if (after.trim() === '') return
    start = lineEnd - after.length
    lines.push(after)
  }
  const beginMath = (line: string, lineStart: number): void => {
    if (DOLLAR_FENCE.test(line)) {
      mathEnd = '$$'
      return
    }
    const environment = mathEnvironmentAt(line)
    const end = BRACKET_FENCE.test(line) ? '\\]' : environment && `\\end{${environment}}`
    if (!end || line.includes(end)) return
    let found = mathEnds.get(end) ?? -2
    if (found !== -1 && found < lineStart) found = text.indexOf(end, lineStart)
    mathEnds.set(end, found)
    if (found >= 0 || text.length - lineStart < MAX_FORMULA_CHARACTERS) mathEnd = end
  }

  const source = text.slice(from).split('\n')
  for (const [index, line] of source.entries()) {
    const next = source[index + 1]
    const lineStart = position
    position += line.length + 1
    if (fence !== null) {
      if (fence.open.closes(line, next)) closeFence(true)
      else fence.code.push(line)
      continue
    }
    if (details !== null) {
      continueDetails(details, line, next, lineStart + line.length)
      continue
    }
    if (table !== null) {
      continueTable(table, line, lineStart + line.length)
      continue
    }
    if (mathEnd === null && line.trim() === '') {
      afterBlank = lines.length > 0
      if (afterBlank) lines.push(line)
      continue
    }
    const opens = mathEnd === null ? FENCE_START.exec(line) : null
    // A fence indented inside a list belongs to its item and is left to the parser.
    if (
      opens !== null &&
      !((inList || footnote !== null) && (opens[1]?.length ?? 0) > 1) &&
      !(footnote !== null && line.startsWith('    '))
    ) {
      close()
      start = lineStart
      const language = (opens[3] ?? '').toLowerCase()
      fence = { open: openFence(opens[2] ?? '```', language, nesting), language, code: [] }
      continue
    }
    const folds = mathEnd === null ? DETAILS_START.exec(line) : null
    if (folds !== null) {
      close()
      start = lineStart
      const isOpen = /\sopen\b/i.test(folds[1] ?? '')
      details = { open: isOpen, lines: [], depth: 1, fence: null, isNested: false }
      continueDetails(details, folds[2] ?? '', next, lineStart + line.length)
      continue
    }
    if (tables && mathEnd === null && TABLE_START.test(line)) {
      close()
      start = lineStart
      table = { lines: [], depth: 0 }
      continueTable(table, line, lineStart + line.length)
      continue
    }
    const defines = mathEnd === null ? FOOTNOTE_START.exec(line) : null
    if (defines !== null) {
      close()
      start = lineStart
      footnote = defines[1] ?? ''
      lines.push(defines[2] ?? '')
      continue
    }
    if (growFootnote(line)) continue
    const continuesList = inList && (LIST_ITEM.test(line) || /^(?: {2,}|\t)/.test(line))
    if (afterBlank && !continuesList && mathEnd === null) close()
    else if (inList && length > LONG_LIST_CHARACTERS && TOP_LEVEL_ITEM.test(line)) close()
    if (lines.length === 0) {
      inList = LIST_ITEM.test(line)
      start = lineStart
    }
    if (mathEnd === null) beginMath(line, lineStart)
    else if (mathEnd === '$$' ? DOLLAR_FENCE.test(line) : line.includes(mathEnd)) mathEnd = null
    lines.push(line)
    length += line.length
    afterBlank = false
  }
  // What has not ended was perhaps read wrongly. The rest of the text is read once more, so this stays linear.
  if (!growing && nesting !== 'none' && (fence?.open.isNested() || details?.isNested))
    return [...blocks, ...splitBlocks(text, start, { nesting: LESS_NESTING[nesting], tables })]
  if (!growing && table !== null)
    return [...blocks, ...splitBlocks(text, start, { nesting, tables: false })]
  if (fence !== null) closeFence(false)
  else if (details !== null) blocks.push(detailsBlock(details, start))
  else if (table !== null) blocks.push({ kind: 'table', start, text: table.lines.join('\n') })
  else close()
  return blocks
}

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
