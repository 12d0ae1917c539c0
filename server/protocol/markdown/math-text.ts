// Decides what is mathematics: models write `\(x\)` and `$x$`, people write "$5 and $10". One pass, linear in the text.

/** False rules out mathematics, so that the parser for it is not loaded. */
export const mayHoldMath = (text: string): boolean => /\$|\\\(|\\\[/.test(text)

/** Where `needle` occurs next. Positions must ascend; all calls together read the text once. */
function createFinder(text: string, needle: string): (from: number) => number {
  let found = -2
  return (from) => {
    if (found !== -1 && found < from) found = text.indexOf(needle, from)
    return found
  }
}

/** Where the next run of exactly `length` backticks begins, or -1. Positions must ascend, as above. */
function createRunFinder(text: string): (length: number, from: number) => number {
  const runs = new Map<number, { starts: number[]; next: number }>()
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = runs.get(run.length)
    if (known === undefined) runs.set(run.length, { starts: [index], next: 0 })
    else known.starts.push(index)
  }
  return (length, from) => {
    const known = runs.get(length)
    if (known === undefined) return -1
    while ((known.starts[known.next] ?? Number.POSITIVE_INFINITY) < from) known.next += 1
    return known.starts[known.next] ?? -1
  }
}

const FORMULA_PART = /\\(begin|end)\{([^{}]*)\}|\\(left|right)(?![a-zA-Z])|\\[\s\S]|[{}]/g

/** The beginning of a formula, completed so that it can be drawn while the rest still streams in. */
export function closeFormula(beginning: string): string {
  // A command or delimiter that may be cut in the middle waits for the next piece.
  let body = beginning.replace(/\\(?:(?:begin|end)\{[^{}]*|[a-zA-Z]*)$/, '').trimEnd()
  body = body.replace(/(?:[\^_]|\\left|\\right)$/, '').trimEnd()
  const open: string[] = []
  for (const [whole, edge, name, side] of body.matchAll(FORMULA_PART)) {
    if (whole === '{') open.push('}')
    else if (edge === 'begin') open.push(`\\end{${name}}`)
    else if (side === 'left') open.push('\\right.')
    else if (whole === '}' || edge === 'end' || side === 'right') open.pop()
  }
  return body + open.reverse().join('')
}

/** The prefix that keeps each line of a displayed formula in its list item or quotation; of bounded length. */
function prefixOf(line: string): string {
  const start = /^[ \t>]{0,99}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,9})?/.exec(line)?.[0] ?? ''
  return start.replace(/[^>\s]/g, ' ')
}

function displayed(body: string, prefix: string): string {
  const margin = prefix.includes('>') ? /^[ \t>]+/ : /^[ \t]+/
  const lines = body
    .split('\n')
    .map((line) => line.replace(margin, ''))
    .join('\n')
    .trim()
    .split('\n')
    .map((line) => prefix + line)
  return `$$\n${lines.join('\n')}\n${prefix}$$`
}

const inline = (body: string): string => {
  const mark = body.includes('$') ? '$$' : '$'
  const line = body
    .split('\n')
    .map((part) => part.trim())
    .join(' ')
  return `${mark}${line.trim()}${mark}`
}

const REST_OF_LINE = /[ \t]*(?:\n|$)/y
/**
 * Pandoc's rule: no space after an opening dollar; no space before a closing one and no digit after it. A backtick begins
 * code, in which a dollar closes nothing.
 */
const DOLLAR_FORMULA = /\$(?!\s)[^$\n`]*?[^\s\\$`]\$(?!\d)/y

/**
 * The text with its mathematics marked as the parser expects. Code stays as it is; a dollar that means money is
 * escaped. `growing`: the text is still streaming, so a formula without an end is one whose end is to come.
 */
export function prepareMath(text: string, growing = false): string {
  const out: string[] = []
  let kept = 0
  let at = 0
  const special = /[`\\$]/g
  const codeEnd = createRunFinder(text)
  const displayEnd = createFinder(text, '\\]')
  const inlineEnd = createFinder(text, '\\)')
  const dollarsEnd = createFinder(text, '$$')
  const blankLine = createFinder(text, '\n\n')
  const lineEnd = createFinder(text, '\n')

  const replace = (end: number, by: string): void => {
    out.push(text.slice(kept, at), by)
    kept = end
    at = end
  }
  let lineStart = 0
  let prefix: string | null = null
  /** The indentation of the line at `at`, and whether nothing else precedes `at` on that line. */
  const margin = (): { prefix: string; alone: boolean } => {
    for (let end = lineEnd(lineStart); end >= 0 && end < at; end = lineEnd(lineStart)) {
      lineStart = end + 1
      prefix = null
    }
    // While a line holds no text yet, its indentation may still grow, so it is not cached.
    const known = prefix ?? prefixOf(text.slice(lineStart, at))
    const alone = lineStart + known.length >= at
    if (!alone) prefix = known
    return { prefix: known, alone }
  }
  const endsLine = (from: number): boolean => {
    REST_OF_LINE.lastIndex = from
    return REST_OF_LINE.test(text)
  }

  for (;;) {
    special.lastIndex = at
    const found = special.exec(text)
    if (found === null) break
    at = found.index
    if (found[0] === '`') {
      let length = 1
      while (text[at + length] === '`') length += 1
      const end = codeEnd(length, at + length)
      // A fence in a list item that is not closed yet: everything after it is code.
      if (end < 0 && length >= 3 && margin().alone) break
      at = end < 0 ? at + length : end + length
    } else if (found[0] === '\\') {
      const opened = text[at + 1]
      if (opened === '[') {
        const end = displayEnd(at + 2)
        const { prefix: indent, alone } = margin()
        const blank = blankLine(at)
        if (end >= 0 && (alone || blank < 0 || end < blank)) {
          const before = alone ? '' : `\n${indent}`
          const after = endsLine(end + 2) ? '' : `\n${indent}`
          replace(end + 2, before + displayed(text.slice(at + 2, end), indent) + after)
        } else if (end < 0 && growing && alone)
          replace(text.length, displayed(closeFormula(text.slice(at + 2)), indent))
        else at += 2
      } else if (opened === '(') {
        const end = inlineEnd(at + 2)
        const blank = blankLine(at)
        if (end >= 0 && (blank < 0 || end < blank))
          replace(end + 2, inline(text.slice(at + 2, end)))
        else if (end < 0 && growing && blank < 0) {
          const body = closeFormula(text.slice(at + 2))
          replace(text.length, body === '' ? '' : inline(body))
        } else at += 2
      } else at += 2
    } else if (text[at + 1] === '$') {
      const end = dollarsEnd(at + 2)
      const { prefix: indent, alone } = margin()
      if (end >= 0) {
        const body = text.slice(at + 2, end)
        // On a line of its own it is a displayed formula.
        if (alone && endsLine(end + 2) && !body.includes('\n') && body.trim() !== '')
          replace(end + 2, displayed(body, indent))
        else at = end + 2
      } else if (growing && alone)
        replace(text.length, displayed(closeFormula(text.slice(at + 2)), indent))
      else replace(at + 2, '\\$\\$')
    } else {
      DOLLAR_FORMULA.lastIndex = at
      if (DOLLAR_FORMULA.test(text)) at = DOLLAR_FORMULA.lastIndex
      else replace(at + 1, '\\$')
    }
  }
  return out.join('') + text.slice(kept)
}
