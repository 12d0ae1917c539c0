// Finds the end of a JSON object or array in text that arrives in pieces, even if it is damaged.

/**
 * `more`: the value continues; `done`: this character closes it; `bound`: it ended before this character; `reject`: it is
 * not a call.
 */
export type Scan = 'more' | 'done' | 'bound' | 'reject'

/** Finds the end of a JSON value in text that arrives in pieces. */
export interface JsonScanner {
  /** Reads the next character. The first must be `{` or `[`. */
  feed(character: string): Scan
  /** The position in `text`, from `at` on, of the next character that must be fed. Those before it can be skipped. */
  skip(text: string, at: number): number
  /** Offsets of quotes inside a string that should have been escaped. */
  readonly strayQuotes: readonly number[]
  /** Whether the text so far ends inside a string. */
  readonly inString: boolean
}

/** Where the value may end other than at its closing bracket. */
export interface JsonScannerOptions {
  /** Characters outside of strings that end the value early, because the mark of its fence or tag begins with them. */
  endMarks: string
  /**
   * Whether a key of the outermost object, or of the objects in the outermost array, is allowed. The first key that is not
   * allowed rejects the value.
   */
  acceptsKey(key: string): boolean
}

const MAX_DEPTH = 64
const MAX_KEY_CHARACTERS = 40
const MAX_STRAY_QUOTES = 100_000
const CLOSING_QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '‘': '’' }

/** What the text so far says about the value. */
interface Scanned {
  readonly options: JsonScannerOptions
  readonly strayQuotes: number[]
  /** Where the last character begins, and its length. */
  offset: number
  width: number
  depth: number
  keyDepth: number
  /** The closing quote of the open string; empty outside of strings. */
  quote: string
  escaped: boolean
  /** Where a quote may have closed the string, and what came since; -1 if none may have. */
  maybeClosedAt: number
  spaceAfterQuote: boolean
  breakAfterQuote: boolean
  /** Outside of strings: the last character that is no white space, and the number of line breaks since then. */
  last: string
  breaks: number
  /** The key that is being read, if keys are checked. */
  key: string | null
}

/**
 * Strings may use double, single or typographic quotes, with unescaped quotes and line breaks inside: a quote ends a string
 * only if what follows it can follow a string. That always holds in valid JSON, so valid JSON is read exactly.
 */
export function createJsonScanner(options: JsonScannerOptions): JsonScanner {
  const scan: Scanned = {
    options,
    strayQuotes: [],
    offset: 0,
    width: 0,
    depth: 0,
    keyDepth: 1,
    quote: '',
    escaped: false,
    maybeClosedAt: -1,
    spaceAfterQuote: false,
    breakAfterQuote: false,
    last: '',
    breaks: 0,
    key: null,
  }
  return {
    feed(character) {
      scan.offset += scan.width
      scan.width = character.length
      if (scan.offset > 0)
        return scan.quote === '' ? outside(scan, character) : inside(scan, character)
      scan.keyDepth = character === '[' ? 2 : 1
      scan.depth = 1
      scan.last = character
      return 'more'
    },
    skip(text, at) {
      if (scan.quote === '' || scan.maybeClosedAt !== -1 || scan.escaped || scan.key !== null)
        return at
      let end = at
      while (end < text.length && text[end] !== scan.quote && text[end] !== '\\') end += 1
      scan.width += end - at
      return end
    },
    strayQuotes: scan.strayQuotes,
    get inString() {
      return scan.quote !== '' && scan.maybeClosedAt === -1
    },
  }
}

function atKey(scan: Scanned): boolean {
  return scan.depth === scan.keyDepth && (scan.last === '{' || scan.last === ',')
}

function openString(scan: Scanned, character: string): void {
  scan.key = atKey(scan) ? '' : null
  scan.quote = CLOSING_QUOTES[character] ?? character
  scan.last = '"'
}

function outside(scan: Scanned, character: string): Scan {
  if (character === '\n') scan.breaks += 1
  if (character === ' ' || character === '\n' || character === '\t' || character === '\r')
    return 'more'
  if (endsEarly(scan, character)) return 'bound'
  scan.breaks = 0
  switch (character) {
    case '"':
    case '“':
    case '‘':
      openString(scan, character)
      return 'more'
    case "'":
      if (!'{[,:'.includes(scan.last)) break
      openString(scan, character)
      return 'more'
    case '{':
    case '[':
      // A second brace where a key should be: a template, not JSON.
      if (atKey(scan) && !(scan.keyDepth === 2 && scan.depth === 1)) return 'reject'
      scan.depth += 1
      if (scan.depth > MAX_DEPTH) return 'reject'
      scan.last = character
      return 'more'
    case '}':
    case ']':
      scan.depth -= 1
      scan.last = character
      return scan.depth === 0 ? 'done' : 'more'
    case ':':
      if (scan.key !== null && scan.depth === scan.keyDepth && !scan.options.acceptsKey(scan.key))
        return 'reject'
      scan.key = null
      scan.last = character
      return 'more'
  }
  if (atKey(scan) && /[\w$]/.test(character)) {
    scan.key = character
    scan.last = 'k'
  } else if (scan.last === 'k' && scan.key !== null) {
    if (scan.key.length >= MAX_KEY_CHARACTERS || !/[\w$-]/.test(character)) return 'reject'
    scan.key += character
  } else if (atKey(scan) && character !== ',' && character !== '/') return 'reject'
  else scan.last = character === ',' ? ',' : 'v'
  return 'more'
}

function endsEarly(scan: Scanned, character: string): boolean {
  if (scan.options.endMarks.includes(character)) return true
  // Without marks around it, an unclosed value ends at a blank line.
  return scan.options.endMarks === '' && scan.breaks >= 2 && !'"\'{}[],:“‘'.includes(character)
}

function mayFollowString(scan: Scanned, character: string): boolean {
  if (',:}]'.includes(character)) return true
  if (scan.breakAfterQuote && '"`~'.includes(character)) return true
  // A comment.
  if (scan.spaceAfterQuote && character === '/') return true
  return character === '<' && scan.options.endMarks.includes('<')
}

function inside(scan: Scanned, character: string): Scan {
  if (scan.maybeClosedAt >= 0) {
    if (character === '\n') scan.breakAfterQuote = true
    if (character === ' ' || character === '\n' || character === '\t' || character === '\r') {
      scan.spaceAfterQuote = true
      return 'more'
    }
    if (mayFollowString(scan, character)) {
      scan.quote = ''
      scan.maybeClosedAt = -1
      return outside(scan, character)
    }
    if (scan.strayQuotes.length < MAX_STRAY_QUOTES) scan.strayQuotes.push(scan.maybeClosedAt)
    scan.maybeClosedAt = -1
  }
  if (scan.escaped) scan.escaped = false
  else if (character === '\\') scan.escaped = true
  else if (character === scan.quote) {
    scan.maybeClosedAt = scan.offset
    scan.breakAfterQuote = false
    scan.spaceAfterQuote = false
  } else if (scan.key !== null) {
    scan.key += character
    if (scan.key.length > MAX_KEY_CHARACTERS) return 'reject'
  }
  return 'more'
}
