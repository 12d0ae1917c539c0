// Fences within fences: models write a README in a ```markdown block and do not lengthen its marks, so that Markdown would end
// the block at the first fence inside.

/** A line that opens a block of code: its indentation, its marks and its language. */
export const FENCE_START = /^( {0,3})(`{3,}|~{3,})\s*([^\s`{]*)[^`]*$/

/** Whether a line ends the block of code that `mark` has opened. */
export const closesFence = (line: string, mark: string): boolean => {
  const trimmed = line.trim()
  return trimmed.startsWith(mark) && trimmed === mark[0]?.repeat(trimmed.length)
}

/**
 * How much of a block counts as fences inside it: with `guessed` also those without a language, whose marks look the same
 * at both ends; with `named` only those with one.
 */
export type Nesting = 'guessed' | 'named' | 'none'

/** What to try for a block that has not ended by the end of its text. */
export const LESS_NESTING = { guessed: 'named', named: 'none' } as const

/** These contain fences by their nature. */
const MARKDOWN_LANGUAGES = /^(?:markdown|md|mdx|rmd|qmd)$/i
/** These may show how a fence is written. */
const PLAIN_LANGUAGES = /^(?:|te?xt|plaintext|plain)$/i

const INNER_START = /^(`{3,}|~{3,})\s*([^\s`][^`]*)$/

/** A block of code that is open. */
export interface OpenFence {
  readonly mark: string
  /** Whether it held a fence so far. If it never ends, it should be read again with less nesting. */
  readonly isNested: () => boolean
  /** Whether this line, the next one of the text, ends the block. `after` is the line that follows; undefined at the end of the text. */
  readonly closes: (line: string, after: string | undefined) => boolean
}

/** A fence without a language opens after a heading, a colon or a blank line, and what it holds follows at once. */
const looksLikeStart = (before: string | undefined, after: string | undefined): boolean =>
  after !== undefined &&
  after.trim() !== '' &&
  (before === undefined || before.trim() === '' || /[:：]\s*$|^\s*#/.test(before))

function nestingOf(language: string, most: Nesting): Nesting {
  if (MARKDOWN_LANGUAGES.test(language)) return most
  return PLAIN_LANGUAGES.test(language) && most !== 'none' ? 'named' : 'none'
}

/** Begins to read a block of code. */
export function openFence(mark: string, language: string, most: Nesting): OpenFence {
  const nesting = nestingOf(language, most)
  const inner: { mark: string; holdsFences: boolean }[] = []
  let isNested = false
  let before: string | undefined
  const open = (innerMark: string, holdsFences: boolean): void => {
    inner.push({ mark: innerMark, holdsFences })
    isNested = true
  }
  const read = (line: string, after: string | undefined): boolean => {
    const trimmed = line.trim()
    if (!trimmed.startsWith(mark)) return false
    const innermost = inner.at(-1)
    if (closesFence(trimmed, mark)) {
      if (innermost === undefined) {
        if (nesting !== 'guessed' || !looksLikeStart(before, after)) return true
        open(trimmed, false)
      } else if (trimmed.length >= innermost.mark.length) inner.pop()
      return false
    }
    if (nesting === 'none' || innermost?.holdsFences === false) return false
    const [, innerMark, innerLanguage = ''] = INNER_START.exec(trimmed) ?? []
    if (innerMark !== undefined) open(innerMark, MARKDOWN_LANGUAGES.test(innerLanguage))
    return false
  }
  return {
    mark,
    isNested: () => isNested,
    closes: (line, after) => {
      const closes = read(line, after)
      before = line
      return closes
    },
  }
}

/** A mark that no line of the code can end. */
export function markFor(code: string): string {
  let longest = 2
  for (const [run] of code.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}

const MARKDOWN_FENCE = /(?:`{3}|~{3})\s*(?:markdown|mdx?|rmd|qmd)\b/i
const INDENTED_START =
  /^([ \t>]{0,99}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,9})?)(`{3,}|~{3,})\s*([^\s`{]*)[^`]*$/

/**
 * The text with longer marks around each block of Markdown that contains fences, for a parser that pairs marks by their length.
 * `growing`: the text is still streaming, so the end of a block may be to come.
 */
export function lengthenMarks(text: string, growing: boolean): string {
  if (!MARKDOWN_FENCE.test(text)) return text
  const lines = text.split('\n')
  for (let first = 0; first < lines.length; first += 1) {
    const [, margin = '', mark, language = ''] = INDENTED_START.exec(lines[first] ?? '') ?? []
    if (mark === undefined) continue
    const fence = openFence(mark, language, 'named')
    const unquoted = (line: string | undefined): string | undefined => line?.replace(/^[ \t>]+/, '')
    let last = first + 1
    while (
      last < lines.length &&
      !fence.closes(unquoted(lines[last]) ?? '', unquoted(lines[last + 1]))
    )
      last += 1
    if (last === lines.length && !(growing && fence.isNested())) return lines.join('\n')
    if (fence.isNested()) {
      const longer = markFor(lines.slice(first, last).join('\n')).replaceAll('`', mark[0] ?? '`')
      lines[first] = margin + longer + (lines[first] ?? '').slice(margin.length + mark.length)
      const end = lines[last]
      if (end !== undefined) lines[last] = end.replace(/[`~]+\s*$/, longer)
    }
    first = last
  }
  return lines.join('\n')
}
