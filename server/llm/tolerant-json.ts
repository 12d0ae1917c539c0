// Reads slightly damaged JSON whose meaning is beyond doubt. Never guesses a value and never changes the inside of a string.

/** One value at the beginning of a text: as valid JSON, and where it ends. */
interface ReadValue {
  json: string
  end: number
}

/** What a reader may assume. */
export interface TolerantOptions {
  /** Whether missing brackets at the end may be added. Not if the text may have been cut off. */
  mayClose: boolean
}

const MAX_DEPTH = 64
const CLOSING_QUOTES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
])
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  // Not JSON, but nothing else can be meant.
  "'": "'",
}
/** JSON's literals, and Python's. */
const LITERALS: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])

/**
 * Reads the object or array at the beginning of `source`. Accepts raw line breaks and tabs in strings, single quotes, keys
 * without quotes, Python's literals, comments, a comma before a closing bracket, a missing one before a key on a new line,
 * and missing brackets at the end. Null for everything else, such as a quote inside a string that is not escaped.
 */
export function readTolerantly(source: string, { mayClose }: TolerantOptions): ReadValue | null {
  let at = 0

  const skipSpace = (): void => {
    for (;;) {
      const space = /[\s\ufeff]*/y
      space.lastIndex = at
      at += space.exec(source)?.[0].length ?? 0
      const comment = /\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\//y
      comment.lastIndex = at
      const found = comment.exec(source)?.[0].length ?? 0
      if (found === 0) return
      at += found
    }
  }

  /** The escaped character at `at`, which is moved behind it; null if its meaning is not clear. */
  const readEscape = (): string | null => {
    const letter = source[at + 1] ?? ''
    if (letter === 'u') {
      const digits = source.slice(at + 2, at + 6)
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) return null
      at += 6
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
    at += 2
    return ESCAPES[letter] ?? null
  }

  /** Whether a string can end here: otherwise the quote is inside of it, and nobody can tell where it really ends. */
  const endsString = (): boolean => {
    const rest = /\s*/y
    rest.lastIndex = at
    const space = rest.exec(source)?.[0] ?? ''
    const next = source[at + space.length]
    if (next === undefined) return true
    return ',:}]/#'.includes(next) || (space.includes('\n') && '"\''.includes(next))
  }

  const readString = (): string | null => {
    const close = CLOSING_QUOTES.get(source[at] ?? '')
    if (close === undefined) return null
    at += 1
    const parts: string[] = []
    let from = at
    while (at < source.length) {
      const character = source[at]
      if (character === close) {
        parts.push(source.slice(from, at))
        at += 1
        return endsString() ? JSON.stringify(parts.join('')) : null
      }
      if (character === '\\') {
        parts.push(source.slice(from, at))
        const escaped = readEscape()
        if (escaped === null) return null
        parts.push(escaped)
        from = at
      } else at += 1
    }
    return null
  }

  const readWord = (): string | null => {
    const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|[A-Za-z]+(?![\w.])/y
    word.lastIndex = at
    const found = word.exec(source)?.[0]
    if (found === undefined) return null
    at += found.length
    if (!/^[-\d]/.test(found)) return LITERALS.get(found) ?? null
    // More digits may have followed.
    return at < source.length ? found : null
  }

  const readKey = (): string | null => {
    if (CLOSING_QUOTES.has(source[at] ?? '')) return readString()
    const name = /[A-Za-z_$][\w$-]*(?=\s*:)/y
    name.lastIndex = at
    const found = name.exec(source)?.[0]
    if (found === undefined) return null
    at += found.length
    return JSON.stringify(found)
  }

  const readValue = (depth: number): string | null => {
    skipSpace()
    const character = source[at] ?? ''
    if (character === '{') return readItems(depth, '}', readPair)
    if (character === '[') return readItems(depth, ']', readValue)
    return CLOSING_QUOTES.has(character) ? readString() : readWord()
  }

  const readPair = (depth: number, seen: Set<string>): string | null => {
    const key = readKey()
    skipSpace()
    if (key === null || seen.has(key) || source[at] !== ':') return null
    seen.add(key)
    at += 1
    const value = readValue(depth)
    return value === null ? null : `${key}:${value}`
  }

  /** The content of an object or array, with its brackets. */
  const readItems = (
    depth: number,
    close: '}' | ']',
    readItem: (depth: number, seen: Set<string>) => string | null,
  ): string | null => {
    if (depth >= MAX_DEPTH) return null
    const open = source[at] ?? ''
    at += 1
    const items: string[] = []
    const seen = new Set<string>()
    for (;;) {
      skipSpace()
      if (source[at] === close) {
        at += 1
        return `${open}${items.join(',')}${close}`
      }
      const item = readItem(depth + 1, seen)
      if (item === null) return null
      items.push(item)
      const before = at
      skipSpace()
      if (source[at] === ',') at += 1
      else if (at >= source.length) return mayClose ? `${open}${items.join(',')}${close}` : null
      else if (source[at] !== close && !source.slice(before, at).includes('\n')) return null
    }
  }

  skipSpace()
  if (source[at] !== '{' && source[at] !== '[') return null
  const json = readValue(0)
  return json === null ? null : { json, end: at }
}
