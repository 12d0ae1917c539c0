// Cuts assembled conversations into the portions that the reader sends, and unpacks the files of their messages.
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { storedFailure } from '../protocol/failures/stored.ts'
import { wellFormed } from '../sharing/well-formed.ts'
import type { Archive } from './archive.ts'
import type { Assembled, AssembledMessage } from './assemble.ts'
import type { DraftFile } from './draft.ts'
import {
  type ImportedFile,
  type ImportedMessage,
  ImportFault,
  type ImportItem,
} from './import-items.ts'

/** Maximum size of a portion, in characters and in messages. The server stores a portion in one transaction. */
const MAX_CHARACTERS = 30_000
const MAX_MESSAGES = 100

/** Unpacks files into the folder of the import. */
export interface Unpacker {
  /** A file of the archive. @throws ImportFault when it is missing or encrypted. */
  entry(archive: Archive, entry: string, name: string): Promise<ImportedFile>
  bytes(content: string, encoding: 'utf8' | 'base64', name: string): Promise<ImportedFile>
}

/** Files are named by number, so that no name in an archive becomes a path. */
export function createUnpacker(folder: string): Unpacker {
  let last = 0
  const next = (): string => {
    last += 1
    return join(folder, String(last))
  }
  return {
    async entry(archive, entry, name) {
      const path = next()
      const content = await archive.open(entry)
      try {
        await pipeline(content, createWriteStream(path, { mode: 0o600 }))
      } catch (error) {
        if (isFull(error)) throw new ImportFault(storedFailure('import_disk_full'))
        throw new ImportFault(storedFailure('import_archive_damaged'))
      }
      return { name, path }
    },
    async bytes(content, encoding, name) {
      const path = next()
      await writeFile(path, content, { encoding, mode: 0o600 })
      return { name, path }
    },
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

/** The conversation and its messages. @param isWanted called before each portion; if false, the rest is left out. */
export async function* portionsOf(
  { conversation, messages, skipped }: Assembled,
  files: { unpacker: Unpacker; archive: Archive | null },
  isWanted: () => boolean,
): AsyncGenerator<ImportItem> {
  yield { type: 'conversation', conversation: wellFormed(conversation) }
  const notes: ImportItem[] = skipped.map((note) => ({
    type: 'skipped',
    ...wellFormed(note),
    ofConversation: true,
  }))
  let portion: ImportedMessage[] = []
  let size = 0
  for (const [index, message] of messages.entries()) {
    if (!isWanted()) return
    portion.push(await unpackFiles(message, files, notes))
    size += charactersOf(message)
    const isLast = index === messages.length - 1
    if (!isLast && size < MAX_CHARACTERS && portion.length < MAX_MESSAGES) continue
    yield { type: 'messages', messages: portion, isLast }
    portion = []
    size = 0
  }
  if (messages.length === 0) yield { type: 'messages', messages: [], isLast: true }
  yield* notes
}

/** A message with its files unpacked; `notes` gets those that could not be. */
async function unpackFiles(
  { files, ...message }: AssembledMessage,
  { unpacker, archive }: { unpacker: Unpacker; archive: Archive | null },
  notes: ImportItem[],
): Promise<ImportedMessage> {
  const unpacked: ImportedFile[] = []
  for (const file of files)
    try {
      unpacked.push(wellFormed(await unpack(file, unpacker, archive)))
    } catch (error) {
      if (!(error instanceof ImportFault)) throw error
      notes.push({
        type: 'skipped',
        what: wellFormed(file.name),
        failure: error.failure,
        ofConversation: true,
      })
    }
  return { ...wellFormed(message), files: unpacked }
}

async function unpack(
  file: DraftFile,
  unpacker: Unpacker,
  archive: Archive | null,
): Promise<ImportedFile> {
  if ('text' in file) return await unpacker.bytes(file.text, 'utf8', file.name)
  if ('base64' in file) return await unpacker.bytes(file.base64, 'base64', file.name)
  if (archive === null || 'missing' in file)
    throw new ImportFault(storedFailure('import_file_missing'))
  return await unpacker.entry(archive, file.entry, file.name)
}

const charactersOf = ({ text, steps }: AssembledMessage): number =>
  steps.reduce(
    (sum, step) => sum + 200 + ('arguments' in step ? step.arguments : step.content).length,
    500 + text.length,
  )
