// The worker thread that reads an import: detects its format, unpacks, checks, and returns portions on request.
import { open, stat } from 'node:fs/promises'
import { sizeText } from '../lib/size-text.ts'
import { serveRequests } from '../lib/worker-server.ts'
import type { ImportFormat } from '../protocol/conversations/transfer.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import { type Archive, openArchive } from './archive.ts'
import { assemble } from './assemble.ts'
import { openPython } from './formats/python.ts'
import {
  ImportFault,
  type ImportItem,
  type ReaderReply,
  type ReaderRequest,
} from './import-items.ts'
import { createUnpacker, portionsOf, type Unpacker } from './portions.ts'
import { failureOf, isBundle, readBundle } from './read-bundle.ts'
import { conversationFiles, openConversations, plainFile } from './read-conversations.ts'
import { createReadingState } from './reading-state.ts'

type OpenRequest = Extract<ReaderRequest, { type: 'open' }>
interface Opened {
  format: ImportFormat
  total: number
  items: AsyncGenerator<ImportItem>
}

/** Maximum items of one reply. */
const MAX_ITEMS = 50
/** Maximum messages of one reply, together about as many characters as one portion has. */
const MAX_MESSAGES = 200
/** Items that are the last of their reply. */
const ENDS_REPLY: ReadonlySet<ImportItem['type']> = new Set([
  'project',
  'conversation_files',
  'project_file',
])
const SQLITE_MAGIC = 'SQLite format 3\0'
const ZIP_MAGIC = 'PK'

const state = createReadingState()
let items: AsyncGenerator<ImportItem> | null = null

serveRequests<ReaderRequest, ReaderReply>(async (request) => {
  try {
    if (request.type === 'next') return await next(request.skip)
    const { format, total, items: opened } = await openImport(request)
    items = opened
    return { type: 'opened', format, total }
  } catch (error) {
    return { type: 'failed', failure: failureOf(error) }
  }
})

async function next(skip: boolean): Promise<ReaderReply> {
  if (skip) state.skip()
  const found: ImportItem[] = []
  let messages = 0
  while (items !== null && found.length < MAX_ITEMS && messages < MAX_MESSAGES) {
    const { value, done } = await items.next()
    if (done === true) break
    found.push(value)
    // After these, the server decides whether it wants the rest, and each file is stored before the next one is unpacked.
    if (ENDS_REPLY.has(value.type)) break
    if (value.type === 'messages') messages += value.messages.length
    // A long conversation takes several replies, between which the server can refuse the rest.
    if (value.type === 'messages' && !value.isLast) break
  }
  return { type: 'items', items: found, done: state.done }
}

async function openImport({ file, folder, format, maxBytes }: OpenRequest): Promise<Opened> {
  const unpacker = createUnpacker(folder)
  const head = await headOf(file)
  if (format === 'python' || head.startsWith(SQLITE_MAGIC)) return openPythonFile(file, unpacker)
  const { size } = await stat(file)
  if (!head.startsWith(ZIP_MAGIC)) {
    const files = [plainFile(file, 'JSON', size)]
    const opened = await openConversations(files, { format, archive: null, unpacker, state })
    return { ...opened, total: size }
  }
  const archive = await openArchive(file, maxBytes, sizeText(maxBytes))
  return await openZip(archive, format, unpacker)
}

async function openZip(
  archive: Archive,
  format: Exclude<ImportFormat, 'python'> | null,
  unpacker: Unpacker,
): Promise<Opened> {
  const refused = archive.skipped.map((note): ImportItem => ({ type: 'skipped', ...note }))
  if ((format === null || format === 'nanoclaw') && (await isBundle(archive)))
    return {
      format: 'nanoclaw',
      total: archive.bytes,
      items: chain(refused, readBundle(archive, unpacker, state)),
    }
  const files = conversationFiles(archive)
  if (files.length === 0 && archive.skipped[0] !== undefined)
    throw new ImportFault(archive.skipped[0].failure)
  const opened = await openConversations(files, { format, archive, unpacker, state })
  return {
    format: opened.format,
    total: files.reduce((sum, { bytes }) => sum + bytes, 0),
    items: chain(refused, opened.items),
  }
}

function openPythonFile(file: string, unpacker: Unpacker): Opened {
  const database = openPython(file)
  async function* read(): AsyncGenerator<ImportItem> {
    for (const { title, read: readDraft } of database.conversations()) {
      try {
        yield* portionsOf(assemble(readDraft()), { unpacker, archive: null }, state.begin())
      } catch (error) {
        const failure = isSqlite(error)
          ? storedFailure('import_database_unreadable')
          : failureOf(error)
        yield { type: 'skipped', what: title, failure }
      }
      state.done += 1
    }
    database.close()
  }
  return { format: 'python', total: database.count, items: read() }
}

const isSqlite = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE')

async function* chain(
  first: readonly ImportItem[],
  rest: AsyncIterable<ImportItem>,
): AsyncGenerator<ImportItem> {
  yield* first
  yield* rest
}

async function headOf(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
