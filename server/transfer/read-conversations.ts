// Reads conversations of any supported program from JSON files, plain or in an archive, one at a time.
import { Buffer } from 'node:buffer'
import { createReadStream } from 'node:fs'
import type { ImportFormat } from '../protocol/conversations/transfer.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { Archive } from './archive.ts'
import { type Assembled, assemble } from './assemble.ts'
import { chatGptFileId, readChatGpt } from './formats/chatgpt.ts'
import { readClaude } from './formats/claude.ts'
import { readLibreChat } from './formats/librechat.ts'
import { readNanoClaw } from './formats/nanoclaw.ts'
import { readOpenWebUi } from './formats/open-webui.ts'
import {
  ImportFault,
  type ImportItem,
  MAX_CONVERSATION_BYTES,
  MAX_CONVERSATION_TEXT,
} from './import-items.ts'
import { portionsOf, type Unpacker } from './portions.ts'
import { failureOf } from './read-bundle.ts'
import type { ReadingState } from './reading-state.ts'

// Splits a JSON array into its elements while it is read, so that one conversation at a time is in memory.

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] =
  Buffer.from('"\\,[]{}')
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** `oversized`: an element beyond the limit, without its text. */
type JsonElement = { type: 'text'; text: string } | { type: 'oversized' }

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Where in its syntax a scan of JSON is. */
interface JsonScan {
  /** Lists and objects that are open. */
  depth: number
  isInString: boolean
  isEscaped: boolean
}

/** Moves the scan over a byte. Returns what the byte ends, seen from the list that holds the elements. */
function scanByte(scan: JsonScan, byte: number | undefined): 'element' | 'list' | null {
  if (scan.isInString) {
    if (scan.isEscaped) scan.isEscaped = false
    else if (byte === BACKSLASH) scan.isEscaped = true
    else if (byte === QUOTE) scan.isInString = false
  } else if (byte === QUOTE) scan.isInString = true
  else if (byte === OPEN_LIST || byte === OPEN_OBJECT) scan.depth += 1
  else if (scan.depth > 0 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) scan.depth -= 1
  else if (scan.depth === 0 && byte === COMMA) return 'element'
  else if (scan.depth === 0 && byte === CLOSE_LIST) return 'list'
  return null
}

/** The pieces of one element, up to a number of bytes. */
function createElementBuffer(maxBytes: number) {
  let pieces: Buffer[] = []
  let size = 0
  return {
    add(piece: Buffer): void {
      size += piece.length
      if (size <= maxBytes) pieces.push(piece)
      else pieces = []
    },
    /** The element, whose place the next one takes; null if there is nothing but space. */
    next(): JsonElement | null {
      const element: JsonElement =
        size > maxBytes
          ? { type: 'oversized' }
          : { type: 'text', text: Buffer.concat(pieces).toString('utf8') }
      pieces = []
      size = 0
      return element.type === 'text' && element.text.trim() === '' ? null : element
    },
  }
}

/** The place of the first byte that is neither a mark of the encoding nor space. */
function firstByte(chunk: Buffer): number {
  let from = chunk.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0
  while (from < chunk.length && isSpace(chunk[from])) from += 1
  return from
}

/**
 * The elements of the array that a stream holds, each as its JSON text, which is not checked; any other value is a single
 * element. The caller parses them and so detects damaged ones.
 * @throws SyntaxError when an array does not end.
 */
async function* jsonElements(
  input: AsyncIterable<Uint8Array>,
  maxElementBytes: number,
): AsyncGenerator<JsonElement> {
  const scan: JsonScan = { depth: 0, isInString: false, isEscaped: false }
  const buffer = createElementBuffer(maxElementBytes)
  let state: 'start' | 'list' | 'single' | 'end' = 'start'

  for await (const given of input) {
    if (state === 'end') return
    const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
    let from = 0
    if (state === 'start') {
      from = firstByte(chunk)
      if (from === chunk.length) continue
      state = chunk[from] === OPEN_LIST ? 'list' : 'single'
      if (state === 'list') from += 1
    }
    for (let index = from; state === 'list' && index < chunk.length; index += 1) {
      const ends = scanByte(scan, chunk[index])
      if (ends === null) continue
      buffer.add(chunk.subarray(from, index))
      from = index + 1
      const element = buffer.next()
      if (element !== null) yield element
      if (ends === 'list') state = 'end'
    }
    if (state !== 'end') buffer.add(chunk.subarray(from))
  }
  if (state === 'list') throw new SyntaxError('The array does not end.')
  const element = state === 'single' ? buffer.next() : null
  if (element !== null) yield element
}

type JsonFormat = Exclude<ImportFormat, 'python'>

/** Distinguishes the programs' conversations without reading them. */
const SIGNS: readonly (readonly [JsonFormat, (value: object) => boolean])[] = [
  ['nanoclaw', (value) => 'format' in value && value.format === 'nanoclaw'],
  ['chatgpt', (value) => 'mapping' in value],
  ['claude', (value) => 'chat_messages' in value],
  ['open-webui', (value) => 'chat' in value],
  ['librechat', (value) => 'conversationId' in value],
]
/** A conversation of a known form must be among this many first elements, because exports have faulty entries. */
const MAX_UNKNOWN_ELEMENTS = 20

const formatOf = (value: unknown): JsonFormat | null =>
  typeof value === 'object' && value !== null
    ? (SIGNS.find(([, hasSign]) => hasSign(value))?.[0] ?? null)
    : null

/** A JSON file with conversations. */
export interface ConversationFile {
  name: string
  bytes: number
  open(): Promise<AsyncIterable<Uint8Array>>
}

/** A file on disk as a source of conversations. */
export const plainFile = (path: string, name: string, bytes: number): ConversationFile => ({
  name,
  bytes,
  open: async () => createReadStream(path),
})

/**
 * The files of an archive that may hold conversations: ChatGPT's shards and Claude's file by their names, else every JSON
 * file. Only one of ChatGPT's two forms of export is read.
 */
export function conversationFiles(archive: Archive): ConversationFile[] {
  const json = archive.names.filter((name) => /\.json$/i.test(name) && !name.includes('__MACOSX/'))
  const named = (form: RegExp): string[] => json.filter((name) => form.test(name))
  const shards = named(/(?:^|\/)conversations-\d+\.json$/)
  const whole = named(/(?:^|\/)conversations\.json$/)
  const chosen = shards.length > 0 ? shards : whole.length > 0 ? whole : json
  return chosen
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .map((name) => ({ name, bytes: archive.sizeOf(name), open: () => archive.open(name) }))
}

interface Element {
  /** How people can find it: its title or its position. */
  what: string
  value: unknown
  failure: ReturnType<typeof failureOf> | null
  /** Bytes read up to its end. */
  done: number
}

async function* elementsOf(files: readonly ConversationFile[]): AsyncGenerator<Element> {
  let before = 0
  for (const file of files) {
    let read = 0
    let number = 0
    const counted = (async function* () {
      for await (const chunk of await file.open()) {
        read += chunk.length
        yield chunk
      }
    })()
    const what = (): string => `${file.name} #${number}`
    try {
      for await (const element of jsonElements(counted, MAX_CONVERSATION_BYTES)) {
        number += 1
        const place = { what: what(), value: null, done: before + read }
        if (element.type === 'oversized')
          yield {
            ...place,
            failure: storedFailure('import_conversation_too_large', {
              limit: MAX_CONVERSATION_TEXT,
            }),
          }
        else yield { ...place, ...parsed(element.text) }
      }
    } catch (error) {
      // The rest of this file is unreadable; the others may be fine.
      const failure =
        error instanceof ImportFault || error instanceof SyntaxError
          ? failureOf(error)
          : storedFailure('import_archive_damaged')
      yield { what: file.name, value: null, failure, done: before + read }
    }
    before += file.bytes
  }
}

function parsed(text: string): Pick<Element, 'value' | 'failure'> {
  try {
    return { value: JSON.parse(text), failure: null }
  } catch (error) {
    return { value: null, failure: failureOf(error) }
  }
}

/** Reads up to the first conversation of a known form. @throws ImportFault when there is none. */
export async function openConversations(
  files: readonly ConversationFile[],
  options: {
    format: JsonFormat | null
    archive: Archive | null
    unpacker: Unpacker
    state: ReadingState
  },
): Promise<{ format: JsonFormat; items: AsyncGenerator<ImportItem> }> {
  const elements = elementsOf(files)
  const first: Element[] = []
  let format = options.format
  let failure: Element['failure'] = null
  while (format === null && first.length < MAX_UNKNOWN_ELEMENTS) {
    const next = await elements.next()
    if (next.done === true) break
    first.push(next.value)
    failure ??= next.value.failure
    format = formatOf(next.value.value)
  }
  if (format === null) throw new ImportFault(failure ?? storedFailure('import_format_unknown'))
  const read = reader(format, options.archive)
  return { format, items: itemsOf(chain(first, elements), read, options) }
}

async function* chain<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first
  yield* rest
}

async function* itemsOf(
  elements: AsyncIterable<Element>,
  read: (value: unknown) => Assembled | Promise<Assembled>,
  { archive, unpacker, state }: Parameters<typeof openConversations>[1],
): AsyncGenerator<ImportItem> {
  for await (const { what, value, failure, done } of elements) {
    state.done = done
    if (failure !== null) {
      yield { type: 'skipped', what, failure }
      continue
    }
    try {
      yield* portionsOf(await read(value), { unpacker, archive }, state.begin())
    } catch (error) {
      yield { type: 'skipped', what: titleOf(value) || what, failure: failureOf(error) }
    }
  }
}

function reader(
  format: JsonFormat,
  archive: Archive | null,
): (value: unknown) => Assembled | Promise<Assembled> {
  const ofChatGpt = new Map<string, string>()
  if (format === 'chatgpt')
    for (const name of archive?.names ?? []) {
      const id = chatGptFileId(name)
      if (id !== null) ofChatGpt.set(id, name)
    }
  return {
    nanoclaw: (value: unknown) => readNanoClaw(value, (name) => archive?.has(name) ?? false),
    chatgpt: (value: unknown) => assemble(readChatGpt(value, (id) => ofChatGpt.get(id) ?? null)),
    claude: (value: unknown) => assemble(readClaude(value)),
    'open-webui': (value: unknown) => assemble(readOpenWebUi(value)),
    librechat: (value: unknown) => assemble(readLibreChat(value)),
  }[format]
}

const MAX_TITLE_CHARACTERS = 200

function titleOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return ''
  const title = 'title' in value ? value.title : 'name' in value ? value.name : ''
  return typeof title === 'string' ? title.slice(0, MAX_TITLE_CHARACTERS) : ''
}
