// Decides what is mathematics: models write `\(x\)` and `$x$`, people write "$5 and $10". One pass, linear in the text.

/** False rules out mathematics, so that the parser for it is not loaded. */
export const mayHoldMath = (text: string): boolean =>
  /\$|\\\(|\\\[|\\begin\{|(?:`{3}|~{3})\s*math\b/.test(text)

const ENVIRONMENT =
  /\\begin\{((?:equation|align|alignat|gather|multline|eqnarray|flalign|split|aligned|alignedat|gathered|array|darray|[dr]?cases|drcases|CD|smallmatrix|[pbBvV]?matrix)\*?)\}/y
/** These stand on lines of their own in LaTeX; the others may also be in a sentence. */
const DISPLAYED_ENVIRONMENT =
  /^(?:equation|align(?:at)?|gather|multline|eqnarray|flalign|CD|split)\*?$/
/** A longer environment is text. */
const MAX_ENVIRONMENT_CHARACTERS = 20_000

/** The name of the environment of mathematics that a line begins with, which models often write without any dollars. */
export function mathEnvironmentAt(line: string): string | undefined {
  ENVIRONMENT.lastIndex = /^[\s>]*/.exec(line)?.[0].length ?? 0
  return ENVIRONMENT.exec(line)?.[1]
}

/** The same formula in environments that KaTeX knows. */
const knownEnvironments = (tex: string): string =>
  tex
    .replaceAll(/\\(begin|end)\{(?:multline|flalign)(\*?)\}/g, '\\$1{gather$2}')
    .replaceAll(/\\begin\{eqnarray\*?\}/g, '\\begin{array}{rcl}')
    .replaceAll(/\\end\{eqnarray\*?\}/g, '\\end{array}')

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
 * Pandoc's rule: no space after an opening dollar, and none before a closing one. A backtick begins code, in which a dollar
 * closes nothing. See `isNoFormula` for the rest.
 */
const DOLLAR_FORMULA = /\$((?!\s)[^$\n`]*?[^\s\\$`])\$/y

/** What hardly any formula does without, and hardly any sentence has. */
const FORMULA_SIGN = /[\\^_={}<>+*|&]/
/** Two words in a row, or text of a language that has no spaces. */
const PROSE =
  /\p{L}{2,}[^\p{L}]*\s[^\p{L}]*\p{L}{2,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Words with blanks around them, as between the numbers of processes: `kill $$ and $$`. */
const WORDS = /^\s+\p{L}{2,}[\p{L}\s]*\s$/u
/** An amount at both ends with a word between, as in `$5 or 10$`; `2 mod 3` is a formula. */
const AMOUNTS = /^\d(?!.*\bmod\b).*\p{L}{2}.*\s\d[\d.,]*$/u
/** Punctuation that ends what stands before it, as in `IPC$, ADMIN$`. */
const AFTER_WORD = /^(?:[,;:!?)\]，。；：！？、）]|\.(?!\d))/

/** Whether what stands between two dollars is no formula: amounts (`5$ or 10$`, `US$5`) and names of variables (`$HOME/bin:$PATH`). */
function isNoFormula(body: string, before: string, after: string): boolean {
  // Units in brackets: "cost($)=5, price($)=6".
  if (body.startsWith(')') && body.endsWith('(')) return true
  if (!FORMULA_SIGN.test(body) && (PROSE.test(body) || WORDS.test(body))) return true
  // A digit follows the dollar of an amount, or a factor such as `\times`.
  if (/\d/.test(after) && !/^\\[A-Za-z]/.test(body)) return true
  // A closing dollar behind an amount. A factor before a formula (`2$x$`) is followed by a letter, a command or a bracket.
  if (
    /\d/.test(before) &&
    (!/^[\p{L}\\({[|]/u.test(body) || (/\s/.test(body) && !/[\\^_=]/.test(body)))
  )
    return true
  if (!FORMULA_SIGN.test(body) && (AMOUNTS.test(body) || AFTER_WORD.test(body))) return true
  // A dollar that belongs to a currency, as in "US$5 or C$10".
  if (/[A-Z]/.test(before) && /^\d/.test(body)) return true
  if (!/[A-Za-z_{(]/.test(after) || body.includes('\\')) return false
  // The second dollar begins another variable: after a sign that ends no formula, or after the whole name of the first.
  if (/[^\p{L}\d)\]}'!]$|\s'$/u.test(body)) return true
  return /[A-Z_{]/.test(after) && /^(?:[A-Z_][A-Z\d_]+|\{[A-Za-z_][\w.]*\})$/.test(body)
}

/** Whether what stands between two dollars on one line, which hold no backtick, is a formula. `before` and `after` are the characters around them. */
export const isFormula = (body: string, before: string, after: string): boolean =>
  !/^\s|[\s\\]$/.test(body) && !isNoFormula(body, before, after)

/** How far a text is read. */
interface MathState {
  readonly text: string
  readonly growing: boolean
  /** The result up to `kept`. What follows is copied as it is until something is replaced. */
  readonly out: string[]
  kept: number
  at: number
  readonly lineEnd: (from: number) => number
  /** Where the line of the last margin begins, and its indentation if it is known. */
  lineStart: number
  prefix: string | null
  /** Finds the ends of environments, by name. */
  readonly environmentEnds: Map<string, (from: number) => number>
}

/**
 * The text with its mathematics marked as the parser expects. Code stays as it is; a dollar that means money is
 * escaped. `growing`: the text is still streaming, so a formula without an end is one whose end is to come.
 */
export function prepareMath(text: string, growing = false): string {
  const math: MathState = {
    text,
    growing,
    out: [],
    kept: 0,
    at: 0,
    lineEnd: createFinder(text, '\n'),
    lineStart: 0,
    prefix: null,
    environmentEnds: new Map(),
  }
  const special = /[`\\$]/g
  const codeEnd = createRunFinder(text)
  const displayEnd = createFinder(text, '\\]')
  const inlineEnd = createFinder(text, '\\)')
  const dollarsEnd = createFinder(text, '$$')
  const blankLine = createFinder(text, '\n\n')

  for (;;) {
    special.lastIndex = math.at
    const found = special.exec(text)
    if (found === null) break
    math.at = found.index
    if (found[0] === '`') {
      let length = 1
      while (text[math.at + length] === '`') length += 1
      const end = codeEnd(length, math.at + length)
      // A fence in a list item that is not closed yet: everything after it is code.
      if (end < 0 && length >= 3 && margin(math).alone) break
      math.at = end < 0 ? math.at + length : end + length
    } else if (found[0] === '\\') {
      const opened = text[math.at + 1]
      if (opened === '[') {
        const end = displayEnd(math.at + 2)
        const { prefix: indent, alone } = margin(math)
        const blank = blankLine(math.at)
        if (end >= 0 && (alone || blank < 0 || end < blank)) {
          const before = alone ? '' : `\n${indent}`
          const after = endsLine(math, end + 2) ? '' : `\n${indent}`
          replace(math, end + 2, before + displayed(text.slice(math.at + 2, end), indent) + after)
        } else if (end < 0 && growing && alone)
          replace(math, text.length, displayed(closeFormula(text.slice(math.at + 2)), indent))
        else math.at += 2
      } else if (opened === '(') {
        const end = inlineEnd(math.at + 2)
        const blank = blankLine(math.at)
        if (end >= 0 && (blank < 0 || end < blank))
          replace(math, end + 2, inline(text.slice(math.at + 2, end)))
        else if (end < 0 && growing && blank < 0) {
          const body = closeFormula(text.slice(math.at + 2))
          replace(math, text.length, body === '' ? '' : inline(body))
        } else math.at += 2
      } else if (opened !== 'b' || !readEnvironment(math)) math.at += 2
    } else if (text[math.at + 1] === '$') {
      const end = dollarsEnd(math.at + 2)
      const { prefix: indent, alone } = margin(math)
      if (end >= 0) {
        const body = text.slice(math.at + 2, end)
        // On a line of its own it is a displayed formula.
        if (alone && endsLine(math, end + 2) && !body.includes('\n') && body.trim() !== '')
          replace(math, end + 2, displayed(body, indent))
        else if (!alone && isNoFormula(body, text[math.at - 1] ?? '', ''))
          replace(math, math.at + 2, '\\$\\$')
        else math.at = end + 2
      } else if (growing && alone)
        replace(math, text.length, displayed(closeFormula(text.slice(math.at + 2)), indent))
      else replace(math, math.at + 2, '\\$\\$')
    } else {
      DOLLAR_FORMULA.lastIndex = math.at
      const body = DOLLAR_FORMULA.exec(text)?.[1]
      const end = DOLLAR_FORMULA.lastIndex
      const environment = body === undefined ? environmentAt(math, math.at + 1) : null
      if (body !== undefined && isFormula(body, text[math.at - 1] ?? '', text[end] ?? ''))
        math.at = end
      // Over several lines.
      else if (environment !== null && environment.end > 0 && text[environment.end] === '$')
        replace(math, environment.end + 1, inline(text.slice(math.at + 1, environment.end)))
      else replace(math, math.at + 1, '\\$')
    }
  }
  return math.out.join('') + text.slice(math.kept)
}

/** The environment of mathematics that begins at `from`: its name, and where it ends, or -1. */
const environmentAt = (
  { text, environmentEnds }: MathState,
  from: number,
): { name: string; end: number } | null => {
  ENVIRONMENT.lastIndex = from
  const name = ENVIRONMENT.exec(text)?.[1]
  if (name === undefined) return null
  const mark = `\\end{${name}}`
  const find = environmentEnds.get(name) ?? createFinder(text, mark)
  environmentEnds.set(name, find)
  const first = find(from)
  if (first < 0 || first - from > MAX_ENVIRONMENT_CHARACTERS) return { name, end: -1 }
  // Each further beginning before the end needs an end of its own.
  let end = first + mark.length
  let open = text.slice(from, end).split(`\\begin{${name}}`).length - 2
  while (open > 0) {
    const next = text.indexOf(mark, end)
    if (next < 0 || next - from > MAX_ENVIRONMENT_CHARACTERS) return { name, end: -1 }
    open += text.slice(end, next).split(`\\begin{${name}}`).length - 2
    end = next + mark.length
  }
  return { name, end }
}

const replace = (math: MathState, end: number, by: string): void => {
  const { out, text } = math
  out.push(text.slice(math.kept, math.at), by)
  math.kept = end
  math.at = end
}

/** The indentation of the line at `at`, and whether nothing else precedes `at` on that line. */
const margin = (math: MathState): { prefix: string; alone: boolean } => {
  const { lineEnd, text } = math
  for (
    let end = lineEnd(math.lineStart);
    end >= 0 && end < math.at;
    end = lineEnd(math.lineStart)
  ) {
    math.lineStart = end + 1
    math.prefix = null
  }
  // While a line holds no text yet, its indentation may still grow, so it is not cached.
  const known = math.prefix ?? prefixOf(text.slice(math.lineStart, math.at))
  const alone = math.lineStart + known.length >= math.at
  if (!alone) math.prefix = known
  return { prefix: known, alone }
}

/** Marks an environment that stands without dollars. False: there is none at `at`. */
const readEnvironment = (math: MathState): boolean => {
  const { growing, text } = math
  const environment = environmentAt(math, math.at)
  if (environment === null) return false
  const { name, end } = environment
  const { prefix: indent, alone } = margin(math)
  if (end < 0) {
    if (!growing || !alone) return false
    replace(
      math,
      text.length,
      displayed(knownEnvironments(closeFormula(text.slice(math.at))), indent),
    )
    return true
  }
  const body = knownEnvironments(text.slice(math.at, end))
  const isLast = endsLine(math, end)
  if (!(alone && isLast) && !DISPLAYED_ENVIRONMENT.test(name)) replace(math, end, inline(body))
  else
    replace(
      math,
      end,
      (alone ? '' : `\n${indent}`) + displayed(body, indent) + (isLast ? '' : `\n${indent}`),
    )
  return true
}

const endsLine = ({ text }: MathState, from: number): boolean => {
  REST_OF_LINE.lastIndex = from
  return REST_OF_LINE.test(text)
}
