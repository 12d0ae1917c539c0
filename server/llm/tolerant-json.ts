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

/** What is being read. */
interface Text {
  readonly source: string
  readonly mayClose: boolean
  /** Of the next character. */
  position: number
}

/**
 * Reads the object or array at the beginning of `source`. Accepts raw line breaks and tabs in strings, single quotes, keys
 * without quotes, Python's literals, comments, a comma before a closing bracket, a missing one before a key on a new line,
 * and missing brackets at the end. Null for everything else, such as a quote inside a string that is not escaped.
 */
export function readTolerantly(source: string, { mayClose }: TolerantOptions): ReadValue | null {
  const text: Text = {
    source,
    mayClose,
    position: 0,
  }
  skipSpace(text)
  if (text.source[text.position] !== '{' && text.source[text.position] !== '[') return null
  const json = readValue(text, 0)
  return json === null ? null : { json, end: text.position }
}

function skipSpace(text: Text): void {
  for (;;) {
    const space = /[\s\ufeff]*/y
    space.lastIndex = text.position
    text.position += space.exec(text.source)?.[0].length ?? 0
    const comment = /\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\//y
    comment.lastIndex = text.position
    const found = comment.exec(text.source)?.[0].length ?? 0
    if (found === 0) return
    text.position += found
  }
}

/** The escaped character at the position, which is moved behind it; null if its meaning is not clear. */
function readEscape(text: Text): string | null {
  const letter = text.source[text.position + 1] ?? ''
  if (letter === 'u') {
    const digits = text.source.slice(text.position + 2, text.position + 6)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) return null
    text.position += 6
    return String.fromCharCode(Number.parseInt(digits, 16))
  }
  text.position += 2
  return ESCAPES[letter] ?? null
}

/** Whether a string can end here: otherwise the quote is inside of it, and nobody can tell where it really ends. */
function endsString(text: Text): boolean {
  const rest = /\s*/y
  rest.lastIndex = text.position
  const space = rest.exec(text.source)?.[0] ?? ''
  const next = text.source[text.position + space.length]
  if (next === undefined) return true
  return ',:}]/#'.includes(next) || (space.includes('\n') && '"\''.includes(next))
}

function readString(text: Text): string | null {
  const close = CLOSING_QUOTES.get(text.source[text.position] ?? '')
  if (close === undefined) return null
  text.position += 1
  const parts: string[] = []
  let from = text.position
  while (text.position < text.source.length) {
    const character = text.source[text.position]
    if (character === close) {
      parts.push(text.source.slice(from, text.position))
      text.position += 1
      return endsString(text) ? JSON.stringify(parts.join('')) : null
    }
    if (character === '\\') {
      parts.push(text.source.slice(from, text.position))
      const escaped = readEscape(text)
      if (escaped === null) return null
      parts.push(escaped)
      from = text.position
    } else text.position += 1
  }
  return null
}

function readWord(text: Text): string | null {
  const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|[A-Za-z]+(?![\w.])/y
  word.lastIndex = text.position
  const found = word.exec(text.source)?.[0]
  if (found === undefined) return null
  text.position += found.length
  if (!/^[-\d]/.test(found)) return LITERALS.get(found) ?? null
  // More digits may have followed.
  return text.position < text.source.length ? found : null
}

function readKey(text: Text): string | null {
  if (CLOSING_QUOTES.has(text.source[text.position] ?? '')) return readString(text)
  const name = /[A-Za-z_$][\w$-]*(?=\s*:)/y
  name.lastIndex = text.position
  const found = name.exec(text.source)?.[0]
  if (found === undefined) return null
  text.position += found.length
  return JSON.stringify(found)
}

function readValue(text: Text, depth: number): string | null {
  skipSpace(text)
  const character = text.source[text.position] ?? ''
  if (character === '{')
    return readItems(text, depth, '}', (depth, seen) => readPair(text, depth, seen))
  if (character === '[') return readItems(text, depth, ']', (depth) => readValue(text, depth))
  return CLOSING_QUOTES.has(character) ? readString(text) : readWord(text)
}

function readPair(text: Text, depth: number, seen: Set<string>): string | null {
  const key = readKey(text)
  skipSpace(text)
  if (key === null || seen.has(key) || text.source[text.position] !== ':') return null
  seen.add(key)
  text.position += 1
  const value = readValue(text, depth)
  return value === null ? null : `${key}:${value}`
}

/** The content of an object or array, with its brackets. */
function readItems(
  text: Text,
  depth: number,
  close: '}' | ']',
  readItem: (depth: number, seen: Set<string>) => string | null,
): string | null {
  if (depth >= MAX_DEPTH) return null
  const open = text.source[text.position] ?? ''
  text.position += 1
  const items: string[] = []
  const seen = new Set<string>()
  for (;;) {
    skipSpace(text)
    if (text.source[text.position] === close) {
      text.position += 1
      return `${open}${items.join(',')}${close}`
    }
    const item = readItem(depth + 1, seen)
    if (item === null) return null
    items.push(item)
    const before = text.position
    skipSpace(text)
    if (text.source[text.position] === ',') text.position += 1
    else if (text.position >= text.source.length)
      return text.mayClose ? `${open}${items.join(',')}${close}` : null
    else if (
      text.source[text.position] !== close &&
      !text.source.slice(before, text.position).includes('\n')
    )
      return null
  }
}
