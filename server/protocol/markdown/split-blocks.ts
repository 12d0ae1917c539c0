// Splits Markdown into top-level blocks, so that while an answer streams in, only its last block is parsed and drawn again.

/**
 * A fenced code block has a kind of its own: it needs no Markdown parser, however long it grows. So does what the parser
 * cannot see whole: definitions of footnotes, which other blocks refer to, and foldable sections.
 */
export type Block = {
  /** Where the block begins in the text. */
  start: number
} & (
  | { kind: 'markdown'; text: string }
  | { kind: 'code'; language: string; code: string; closed: boolean }
  | { kind: 'footnote'; id: string; text: string }
  | { kind: 'details'; summary: string; text: string; open: boolean }
)

const FENCE_START = /^( {0,3})(`{3,}|~{3,})\s*([^\s`{]*)[^`]*$/
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
const TOP_LEVEL_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/
const DOLLAR_FENCE = /^\s*\$\$\s*$/
const BRACKET_FENCE = /^\s*\\\[/
const FOOTNOTE_START = /^ {0,3}\[\^([^\]\s]{1,100})\]:[ \t]*(.*)$/
const DETAILS_START = /^ {0,3}<details((?:\s[^<>]*)?)>(.*)$/i
const DETAILS_TAG = /<(\/?)details(?:\s[^<>]*)?>/gi

/** A longer list is split between its items, so that no block grows without bound. */
const LONG_LIST_CHARACTERS = 3_000
/** A formula that does not end within this many characters is not a formula. */
const MAX_FORMULA_CHARACTERS = 2_000

const closesFence = (line: string, mark: string): boolean => {
  const trimmed = line.trim()
  return trimmed.startsWith(mark) && trimmed === mark[0]?.repeat(trimmed.length)
}

type Details = { open: boolean; lines: string[]; depth: number; fence: string | null }

/** Adds one line to a foldable section. Returns the text after its end, or null while it continues. */
function growDetails(details: Details, line: string): string | null {
  if (details.fence !== null) {
    if (closesFence(line, details.fence)) details.fence = null
    details.lines.push(line)
    return null
  }
  const opens = FENCE_START.exec(line)
  if (opens !== null) {
    details.fence = opens[2] ?? '```'
    details.lines.push(line)
    return null
  }
  for (const tag of line.matchAll(DETAILS_TAG)) {
    details.depth += tag[1] === '/' ? -1 : 1
    if (details.depth === 0) {
      details.lines.push(line.slice(0, tag.index))
      return line.slice(tag.index + tag[0].length)
    }
  }
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

/** Linear in the text. Joining the blocks loses nothing but blank lines between them. */
export function splitBlocks(text: string, from = 0): Block[] {
  const blocks: Block[] = []
  let position = from
  let start = from
  let lines: string[] = []
  let length = 0
  let afterBlank = false
  let inList = false
  let mathEnd: '$$' | '\\]' | null = null
  let fence: { mark: string; language: string; code: string[] } | null = null
  let footnote: string | null = null
  let details: Details | null = null
  let bracketEnd = -2

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
  const continueDetails = (open: Details, line: string, lineEnd: number): void => {
    const after = growDetails(open, line)
    if (after === null) return
    blocks.push(detailsBlock(open, start))
    details = null
    if (after.trim() === '') return
    start = lineEnd - after.length
    lines.push(after)
  }
  const beginMath = (line: string, lineStart: number): void => {
    if (DOLLAR_FENCE.test(line)) mathEnd = '$$'
    else if (BRACKET_FENCE.test(line) && !line.includes('\\]')) {
      if (bracketEnd !== -1 && bracketEnd < lineStart) bracketEnd = text.indexOf('\\]', lineStart)
      if (bracketEnd >= 0 || text.length - lineStart < MAX_FORMULA_CHARACTERS) mathEnd = '\\]'
    }
  }

  for (const line of text.slice(from).split('\n')) {
    const lineStart = position
    position += line.length + 1
    if (fence !== null) {
      if (closesFence(line, fence.mark)) closeFence(true)
      else fence.code.push(line)
      continue
    }
    if (details !== null) {
      continueDetails(details, line, lineStart + line.length)
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
      fence = { mark: opens[2] ?? '```', language: (opens[3] ?? '').toLowerCase(), code: [] }
      continue
    }
    const folds = mathEnd === null ? DETAILS_START.exec(line) : null
    if (folds !== null) {
      close()
      start = lineStart
      details = { open: /\sopen\b/i.test(folds[1] ?? ''), lines: [], depth: 1, fence: null }
      continueDetails(details, folds[2] ?? '', lineStart + line.length)
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
    else if (mathEnd === '$$' ? DOLLAR_FENCE.test(line) : line.includes('\\]')) mathEnd = null
    lines.push(line)
    length += line.length
    afterBlank = false
  }
  if (fence !== null) closeFence(false)
  else if (details !== null) blocks.push(detailsBlock(details, start))
  else close()
  return blocks
}

/** A text with its blocks, kept so that a longer text only needs its last block split again. */
export type SplitText = { text: string; blocks: readonly Block[] }

/** The blocks of a text that has grown: reuses all blocks of `before` except the last. */
export function growBlocks(before: SplitText | null, text: string): SplitText {
  if (before?.text === text) return before
  const last = before?.blocks.at(-1)
  if (before === null || last === undefined || !text.startsWith(before.text))
    return { text, blocks: splitBlocks(text) }
  return { text, blocks: [...before.blocks.slice(0, -1), ...splitBlocks(text, last.start)] }
}
