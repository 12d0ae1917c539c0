// Finds the assistants in a file: JSON of LibreChat or Open WebUI, or a character card in JSON, a picture or an archive.
import { type FileHandle, open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import { sizeText } from '../../lib/size-text.ts'
import type { AssistantFormat } from '../../protocol/projects/project-import.ts'
import { type Archive, openArchive } from '../archive.ts'
import { isCharacterCard, readCharacterCard } from './character-card.ts'
import { type AssistantDraft, type DraftWriter, MAX_ICON_BYTES } from './draft.ts'
import { isLibreChatAgent, readLibreChatAgent } from './librechat.ts'
import { isOpenWebUiModel, readOpenWebUiModel } from './open-webui.ts'

/** The assistants of a file. */
export interface FoundAssistants {
  format: AssistantFormat
  drafts: AssistantDraft[]
  /** Entries that are no assistants. */
  skipped: number
}

/** The description of the card in an archive. */
export const CARD = 'card.json'
/** Of a file with JSON, and of JSON in a picture or archive. */
const MAX_JSON_BYTES = 32 * 1024 * 1024
const MAX_PICTURE_BYTES = 64 * 1024 * 1024
const MAX_CHUNKS = 20_000
const MAX_ASSISTANTS = 100
const PNG_MAGIC = '\x89PNG\r\n\x1a\n'
/** The first bytes of an archive. */
export const ZIP_MAGIC = 'PK'
/** Later ones win. */
const CARD_CHUNKS = ['chara', 'ccv3']
const MAX_KEYWORD = 80

/** What is read, and where images in it are written. */
interface Reading {
  file: string
  folder: string
  archive: Archive | null
  isPicture: boolean
  images: number
}

/**
 * Reads a file, and writes the images in it to `folder`.
 * @throws AppError for a file that has no assistants; ImportFault for an archive that cannot be read.
 */
export async function readAssistants(
  file: string,
  folder: string,
  maxBytes: number,
): Promise<FoundAssistants> {
  const reading: Reading = { file, folder, archive: null, isPicture: false, images: 0 }
  const head = await headOf(file)
  if (head.startsWith(PNG_MAGIC))
    return await assistantsIn(parse(await cardInPicture(file)), { ...reading, isPicture: true })
  if (!head.startsWith(ZIP_MAGIC)) {
    if ((await stat(file)).size > MAX_JSON_BYTES)
      throw appError('project_import_too_large', { limit: sizeText(MAX_JSON_BYTES) })
    const content = decode(await readFile(file))
    if (!/^\uFEFF?\s*[[{]/.test(content)) throw appError('project_import_unknown')
    return await assistantsIn(parse(content), reading)
  }
  const archive = await openArchive(file, maxBytes, sizeText(maxBytes))
  try {
    if (archive.sizeOf(CARD) > MAX_JSON_BYTES)
      throw appError('project_import_entry_too_large', { path: CARD })
    const card = parse(await text(await archive.open(CARD)))
    return await assistantsIn(card, { ...reading, archive })
  } finally {
    archive.close()
  }
}

async function headOf(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw appError('project_import_unknown')
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw appError('project_import_json_damaged')
  }
}

/** The JSON of the card in a picture: version 3 before the others. */
async function cardInPicture(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    if (size > MAX_PICTURE_BYTES)
      throw appError('project_import_too_large', { limit: sizeText(MAX_PICTURE_BYTES) })
    let found: { order: number; at: number; length: number } | null = null
    let at = PNG_MAGIC.length
    for (let chunks = 0; at + 12 <= size; chunks += 1) {
      if (chunks >= MAX_CHUNKS) throw appError('project_import_picture_damaged')
      const head = await bytesAt(handle, at, 8 + MAX_KEYWORD)
      const length = head.readUInt32BE(0)
      const type = head.toString('latin1', 4, 8)
      if (at + 12 + length > size) throw appError('project_import_picture_damaged')
      const [keyword = ''] = head
        .toString('latin1', 8, 8 + Math.min(length, MAX_KEYWORD))
        .split('\0')
      const order = type === 'tEXt' ? CARD_CHUNKS.indexOf(keyword) : -1
      if (order >= 0 && order >= (found?.order ?? 0)) {
        const prefix = keyword.length + 1
        found = { order, at: at + 8 + prefix, length: length - prefix }
      }
      if (type === 'IEND') break
      at += 12 + length
    }
    if (found === null) throw appError('project_import_unknown')
    if (found.length > (MAX_JSON_BYTES / 3) * 4)
      throw appError('project_import_too_large', { limit: sizeText(MAX_JSON_BYTES) })
    const encoded = (await bytesAt(handle, found.at, found.length)).toString('latin1')
    return decode(Buffer.from(encoded, 'base64'))
  } finally {
    await handle.close()
  }
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  await handle.read(bytes, 0, length, position)
  return bytes
}

const Page = z.union([
  z.looseObject({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.looseObject({ items: z.array(z.unknown()) }).transform(({ items }) => items),
])

/** The entries of a file that holds one, a list, or a page of a list. */
function entriesIn(content: unknown): unknown[] {
  if (Array.isArray(content)) return content
  const page = Page.safeParse(content)
  return page.success ? page.data : [content]
}

/** In the order in which they are tried. */
const KINDS = [
  { format: 'character_card', is: isCharacterCard, read: readCharacterCard },
  { format: 'librechat', is: isLibreChatAgent, read: readLibreChatAgent },
  { format: 'open_webui', is: isOpenWebUiModel, read: readOpenWebUiModel },
] as const

async function assistantsIn(content: unknown, reading: Reading): Promise<FoundAssistants> {
  const entries = entriesIn(content)
  // The first entry that is of a kind says of which kind the file is.
  const kind = KINDS.find(({ is }) => entries.some(is))
  if (kind === undefined) throw appError('project_import_unknown')
  const drafts: AssistantDraft[] = []
  let skipped = 0
  for (const entry of entries) {
    const found = kind.is(entry) ? kind.read(entry) : null
    if (found === null) {
      skipped += 1
      continue
    }
    if (drafts.length >= MAX_ASSISTANTS)
      throw appError('project_import_too_many', { limit: MAX_ASSISTANTS })
    await addIcon(reading, found)
    drafts.push(found.writer.draft)
  }
  if (drafts.length === 0) throw appError('project_import_empty')
  return { format: kind.format, drafts, skipped }
}

const DATA_URL = /^data:image\/(?:png|jpe?g|webp|gif|avif)(?:;[\w=.-]+)*;base64,/i
const EMBEDDED = /^embed(?:d)?ed:\/\//i

/** Makes the image the icon, if it is in the file and small. */
async function addIcon(
  reading: Reading,
  { writer, image }: { writer: DraftWriter; image: string | null },
): Promise<void> {
  const leaveOut = (reason: 'not_in_file' | 'unreadable'): void =>
    writer.note('icon', 'left_out', reason)
  if (reading.isPicture && (image === null || !DATA_URL.test(image))) {
    const { size } = await stat(reading.file)
    if (size > MAX_ICON_BYTES) return leaveOut('unreadable')
    writer.draft.icon = { path: reading.file, isWhole: true }
    return
  }
  if (image === null || image === '' || image === 'ccdefault:') return
  const bytes = await imageBytes(reading, image)
  if (bytes === null) return leaveOut('not_in_file')
  if (bytes.length === 0 || bytes.length > MAX_ICON_BYTES) return leaveOut('unreadable')
  const path = join(reading.folder, `icon-${reading.images++}`)
  await writeFile(path, bytes, { mode: 0o600 })
  writer.draft.icon = { path, isWhole: false }
}

/** The bytes of an image that is in the file, none if it is too large; null if it is not there. */
async function imageBytes({ archive }: Reading, image: string): Promise<Buffer | null> {
  const url = DATA_URL.exec(image.slice(0, 200))
  if (url !== null)
    return image.length > MAX_ICON_BYTES * 2
      ? Buffer.alloc(0)
      : Buffer.from(image.slice(url[0].length), 'base64')
  const name = image.replace(EMBEDDED, '')
  if (archive === null || name === image || !archive.has(name)) return null
  if (archive.sizeOf(name) > MAX_ICON_BYTES) return Buffer.alloc(0)
  return await buffer(await archive.open(name))
}
