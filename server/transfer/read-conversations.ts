// Reads conversations of any supported program from JSON files, plain or in an archive, one at a time.
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
import { jsonElements } from './json-elements.ts'
import { portionsOf, type Unpacker } from './portions.ts'
import { failureOf } from './read-bundle.ts'
import type { ReadingState } from './reading-state.ts'

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
