// Reads the results of searches and listings into one shape: what was found, where it links to, an extract.
import { fieldsOf, listIn, numberIn, textIn } from '../../../lib/read-json.ts'

export type ResultItem = {
  title: string
  /** A web address; only http and https become links. */
  href?: string
  /** A file of the conversation's project. */
  file?: { path: string; line?: number }
  folder?: true
  text?: string
  /** Secondary text: the source, the size. */
  size?: number
  place?: string
  page?: number
}

const webAddress = (value: unknown): string | undefined => {
  const text = textIn(value)
  if (text === undefined || !/^https?:\/\//i.test(text)) return undefined
  return URL.canParse(text) ? text : undefined
}

const hostOf = (address: string): string => new URL(address).host.replace(/^www\./, '')

/** Extracts are cut: the whole text is one click away. */
const EXTRACT_LENGTH = 400
const extract = (value: unknown): string | undefined => {
  const text = textIn(value)?.trim()
  if (text === undefined || text === '') return undefined
  return text.length > EXTRACT_LENGTH ? `${text.slice(0, EXTRACT_LENGTH)}…` : text
}

const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function webItem(value: unknown): ResultItem | null {
  const fields = fieldsOf(value)
  const href = webAddress(fields.url)
  if (href === undefined) return null
  const title = textIn(fields.title)?.trim()
  return {
    title: title === undefined || title === '' ? href : title,
    href,
    place: hostOf(href),
    ...present({ text: extract(fields.snippet ?? fields.content ?? fields.error) }),
  }
}

function passageItem(value: unknown): ResultItem | null {
  const { document, heading, page, text } = fieldsOf(value)
  const title = textIn(document)
  if (title === undefined) return null
  return {
    title,
    ...present({ place: textIn(heading), page: numberIn(page), text: extract(text) }),
  }
}

function matchItem(value: unknown): ResultItem | null {
  const { path, line, content } = fieldsOf(value)
  const name = textIn(path)
  const number = numberIn(line)
  if (name === undefined || number === undefined) return null
  return {
    title: `${name}:${number}`,
    file: { path: name, line: number },
    ...present({ text: extract(content) }),
  }
}

function entryItem(value: unknown): ResultItem | null {
  const fields = fieldsOf(value)
  const path = textIn(value) ?? textIn(fields.path) ?? textIn(fields.name)
  if (path === undefined) return null
  const isFolder = fields.type === 'directory' || fields.kind === 'directory'
  return isFolder
    ? { title: path, folder: true }
    : { title: path, file: { path }, ...present({ size: numberIn(fields.size) }) }
}

const readAll = (
  value: unknown,
  read: (one: unknown) => ResultItem | null,
): ResultItem[] | null => {
  if (!Array.isArray(value)) return null
  const items = listIn(value).map(read)
  return items.every((item) => item !== null) ? items : null
}

/** What a tool found; null when its result has none of the known shapes and is shown as it is. */
export function readResults(name: string, data: unknown): readonly ResultItem[] | null {
  if (name.startsWith('mcp__')) return null
  const fields = fieldsOf(data)
  if (fields.results !== undefined)
    return readAll(fields.results, webItem) ?? readAll(fields.results, passageItem)
  if (fields.matches !== undefined) return readAll(fields.matches, matchItem)
  if (fields.entries !== undefined) return readAll(fields.entries, entryItem)
  if (fields.paths !== undefined) return readAll(fields.paths, entryItem)
  const page = name === 'fetch_page' ? webItem(data) : null
  return page === null ? null : [page]
}

/** A file that was read, as text in its language; null for everything else. */
export function readFileText(
  name: string,
  data: unknown,
): { path: string; text: string; line: number } | null {
  if (!/^(?:file_read|read_file|read)$/.test(name)) return null
  const fields = fieldsOf(data)
  const path = textIn(fields.path)
  const text = textIn(fields.content)
  if (path === undefined || text === undefined) return null
  return { path, text, line: numberIn(fields.start_line) ?? 1 }
}
