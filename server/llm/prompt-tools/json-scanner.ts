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

/**
 * Strings may use double, single or typographic quotes, with unescaped quotes and line breaks inside: a quote ends a string
 * only if what follows it can follow a string. That always holds in valid JSON, so valid JSON is read exactly.
 */
export function createJsonScanner(options: JsonScannerOptions): JsonScanner {
  const strayQuotes: number[] = []
  let offset = 0
  let width = 0
  let depth = 0
  let keyDepth = 1
  // For the open string: its closing quote, and where a quote may have closed it.
  let quote = ''
  let escaped = false
  let maybeClosedAt = -1
  let spaceAfterQuote = false
  let breakAfterQuote = false
  // Outside of strings: the last non-whitespace character, and the number of line breaks since then.
  let last = ''
  let breaks = 0
  // The key that is being read, if keys are checked.
  let key: string | null = null

  const atKey = () => depth === keyDepth && (last === '{' || last === ',')

  const openString = (character: string): void => {
    key = atKey() ? '' : null
    quote = CLOSING_QUOTES[character] ?? character
    last = '"'
  }

  const outside = (character: string): Scan => {
    if (character === '\n') breaks += 1
    if (character === ' ' || character === '\n' || character === '\t' || character === '\r')
      return 'more'
    if (endsEarly(character)) return 'bound'
    breaks = 0
    switch (character) {
      case '"':
      case '“':
      case '‘':
        openString(character)
        return 'more'
      case "'":
        if (!'{[,:'.includes(last)) break
        openString(character)
        return 'more'
      case '{':
      case '[':
        // A second brace where a key should be: a template, not JSON.
        if (atKey() && !(keyDepth === 2 && depth === 1)) return 'reject'
        depth += 1
        if (depth > MAX_DEPTH) return 'reject'
        last = character
        return 'more'
      case '}':
      case ']':
        depth -= 1
        last = character
        return depth === 0 ? 'done' : 'more'
      case ':':
        if (key !== null && depth === keyDepth && !options.acceptsKey(key)) return 'reject'
        key = null
        last = character
        return 'more'
    }
    if (atKey() && /[\w$]/.test(character)) {
      key = character
      last = 'k'
    } else if (last === 'k' && key !== null) {
      if (key.length >= MAX_KEY_CHARACTERS || !/[\w$-]/.test(character)) return 'reject'
      key += character
    } else if (atKey() && character !== ',' && character !== '/') return 'reject'
    else last = character === ',' ? ',' : 'v'
    return 'more'
  }

  const endsEarly = (character: string): boolean => {
    if (options.endMarks.includes(character)) return true
    // Without marks around it, an unclosed value ends at a blank line.
    return options.endMarks === '' && breaks >= 2 && !'"\'{}[],:“‘'.includes(character)
  }

  const mayFollowString = (character: string): boolean => {
    if (',:}]'.includes(character)) return true
    if (breakAfterQuote && '"`~'.includes(character)) return true
    // A comment.
    if (spaceAfterQuote && character === '/') return true
    return character === '<' && options.endMarks.includes('<')
  }

  const inside = (character: string): Scan => {
    if (maybeClosedAt >= 0) {
      if (character === '\n') breakAfterQuote = true
      if (character === ' ' || character === '\n' || character === '\t' || character === '\r') {
        spaceAfterQuote = true
        return 'more'
      }
      if (mayFollowString(character)) {
        quote = ''
        maybeClosedAt = -1
        return outside(character)
      }
      if (strayQuotes.length < MAX_STRAY_QUOTES) strayQuotes.push(maybeClosedAt)
      maybeClosedAt = -1
    }
    if (escaped) escaped = false
    else if (character === '\\') escaped = true
    else if (character === quote) {
      maybeClosedAt = offset
      breakAfterQuote = false
      spaceAfterQuote = false
    } else if (key !== null) {
      key += character
      if (key.length > MAX_KEY_CHARACTERS) return 'reject'
    }
    return 'more'
  }

  return {
    feed(character) {
      offset += width
      width = character.length
      if (offset === 0) {
        keyDepth = character === '[' ? 2 : 1
        depth = 1
        last = character
        return 'more'
      }
      return quote === '' ? outside(character) : inside(character)
    },
    skip(text, at) {
      if (quote === '' || maybeClosedAt !== -1 || escaped || key !== null) return at
      let end = at
      while (end < text.length && text[end] !== quote && text[end] !== '\\') end += 1
      width += end - at
      return end
    },
    strayQuotes,
    get inString() {
      return quote !== '' && maybeClosedAt === -1
    },
  }
}
