// Reads a bundle of NanoClaw: projects first, because conversations refer to them, then conversations and the memory.
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import {
  BundledDocument,
  BundledProject,
  BundleManifest,
} from '../protocol/conversations/export.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import { wellFormed } from '../sharing/well-formed.ts'
import { SKILL_LIMITS } from '../skills/found-skill.ts'
import type { Archive } from './archive.ts'
import { BundledSchedule, SCHEDULES } from './bundled-schedules.ts'
import { readNanoClaw } from './formats/nanoclaw.ts'
import {
  type ImportedFile,
  ImportFault,
  type ImportItem,
  MAX_CONVERSATION_BYTES,
  MAX_CONVERSATION_TEXT,
} from './import-items.ts'
import { portionsOf, type Unpacker } from './portions.ts'
import type { ReadingState } from './reading-state.ts'

export const MANIFEST = 'manifest.json'
/** Of the bundles that this server writes; it reads those of earlier versions, too. 2: with grants, schedules and skills. */
export const BUNDLE_VERSION = 2
/** The folder of the skills of the user, one folder each. */
export const SKILLS = 'skills/'
const MEMORY = 'memory.md'
const CONVERSATION = /^conversations\/([^/]+)\.json$/
const OF_CONVERSATION = /^(conversations\/[^/]+\/)(?:files|documents)\/./
const PROJECT = /^projects\/([^/]+)\/project\.json$/
const MAX_SMALL_BYTES = 1024 * 1024
const MAX_SCHEDULES_BYTES = 16 * 1024 * 1024
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

/** Whether an archive is a bundle. @throws ImportFault for a bundle of a newer version. */
export async function isBundle(archive: Archive): Promise<boolean> {
  if (!archive.has(MANIFEST)) return false
  const manifest = await readJson(
    archive,
    MANIFEST,
    z.looseObject({ format: z.string() }),
    MAX_SMALL_BYTES,
  )
  if (manifest.format !== 'nanoclaw') return false
  const { version } = await readJson(archive, MANIFEST, BundleManifest, MAX_SMALL_BYTES)
  if (version > BUNDLE_VERSION)
    throw new ImportFault(storedFailure('import_unreadable', { detail: `version ${version}` }))
  return true
}

/** Yields the items of our own archives, in the order in which they are stored. */
export async function* readBundle(
  archive: Archive,
  unpacker: Unpacker,
  state: ReadingState,
): AsyncGenerator<ImportItem> {
  for (const name of archive.names) {
    const key = PROJECT.exec(name)?.[1]
    if (key !== undefined) yield* orSkipped(name, readProject(archive, key, unpacker, state))
  }
  const scratch = scratchEntries(archive)
  for (const name of archive.names) {
    const id = CONVERSATION.exec(name)?.[1]
    if (id === undefined) continue
    const folder = `conversations/${id}/`
    const own = { folder, entries: scratch.get(folder) ?? [] }
    yield* orSkipped(name, readOne({ archive, unpacker, state }, name, own))
    state.done += archive.sizeOf(name)
  }
  if (archive.has(MEMORY)) yield* orSkipped(MEMORY, readMemory(archive))
  if (archive.has(SCHEDULES)) yield* orSkipped(SCHEDULES, readSchedules(archive))
  for (const [name, entries] of skillEntries(archive))
    yield* orSkipped(`${SKILLS}${name}`, readSkill({ archive, unpacker, state }, name, entries))
}

/** The entries of each skill, by its name. */
function skillEntries(archive: Archive): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const entry of archive.names) {
    const [name = '', ...path] = entry.startsWith(SKILLS)
      ? entry.slice(SKILLS.length).split('/')
      : []
    if (path.length === 0) continue
    const entries = found.get(name)
    if (entries === undefined) found.set(name, [entry])
    else entries.push(entry)
  }
  return found
}

/** Only as much as a skill may have is unpacked. */
async function* readSkill(
  { archive, unpacker, state }: Reading,
  name: string,
  entries: readonly string[],
): AsyncGenerator<ImportItem> {
  const bytes = entries.reduce((sum, entry) => sum + archive.sizeOf(entry), 0)
  if (entries.length > SKILL_LIMITS.files || bytes > SKILL_LIMITS.bytes)
    throw new ImportFault(storedFailure('import_unreadable', { detail: 'size' }))
  const files: ImportedFile[] = []
  for (const entry of entries)
    files.push(await unpacker.entry(archive, entry, entry.slice(`${SKILLS}${name}/`.length)))
  state.done += bytes
  yield { type: 'skill', name, files }
}

interface Reading {
  archive: Archive
  unpacker: Unpacker
  state: ReadingState
}
/** The entries with the contents of a project or of a conversation, all below one folder. */
interface Contents {
  folder: string
  entries: readonly string[]
}

/** The entries with the files and documents of conversations, by the folder of each. */
function scratchEntries(archive: Archive): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const name of archive.names) {
    const folder = OF_CONVERSATION.exec(name)?.[1]
    if (folder === undefined) continue
    const entries = found.get(folder)
    if (entries === undefined) found.set(folder, [name])
    else entries.push(name)
  }
  return found
}

async function* readOne(
  { archive, unpacker, state }: Reading,
  name: string,
  own: Contents,
): AsyncGenerator<ImportItem> {
  if (archive.sizeOf(name) > MAX_CONVERSATION_BYTES)
    throw new ImportFault(
      storedFailure('import_conversation_too_large', { limit: MAX_CONVERSATION_TEXT }),
    )
  const assembled = await readNanoClaw(JSON.parse(await textOf(archive, name)), archive.has)
  for (const message of assembled.messages)
    for (const file of message.files) if ('entry' in file) state.done += archive.sizeOf(file.entry)
  yield* portionsOf(assembled, { unpacker, archive }, state.begin())
  if (own.entries.length === 0) return
  // The server does not want the files of a conversation that it did not want.
  const key = own.folder
  const { title } = wellFormed(assembled.conversation)
  const isWanted = state.begin()
  yield { type: 'conversation_files', key, title }
  yield* readContents({ archive, unpacker, state }, own, { key, name: title, isWanted })
}

async function* readProject(
  archive: Archive,
  key: string,
  unpacker: Unpacker,
  state: ReadingState,
): AsyncGenerator<ImportItem> {
  const folder = `projects/${key}/`
  const project = await readJson(archive, `${folder}project.json`, BundledProject, MAX_SMALL_BYTES)
  const { name, description } = wellFormed(project)
  const isWanted = state.begin()
  yield { type: 'project', key, name, description }
  const contents = { folder, entries: archive.names }
  yield* readContents({ archive, unpacker, state }, contents, { key, name, isWanted })
}

async function* readContents(
  { archive, unpacker, state }: Reading,
  { folder, entries }: Contents,
  { key, name, isWanted }: { key: string; name: string; isWanted: () => boolean },
): AsyncGenerator<ImportItem> {
  for (const entry of entries) {
    if (!isWanted()) return
    if (!entry.startsWith(`${folder}files/`)) continue
    const path = entry.slice(`${folder}files/`.length)
    yield* orSkipped(`${name}/${path}`, readProjectFile(archive, entry, { key, path }, unpacker))
    state.done += archive.sizeOf(entry)
  }
  // After all files, because the first document completes the project.
  for (const entry of entries) {
    if (!isWanted()) return
    if (!entry.startsWith(`${folder}documents/`)) continue
    yield* orSkipped(`${name}/${entry.slice(folder.length)}`, readDocument(archive, entry, key))
    state.done += archive.sizeOf(entry)
  }
}

async function* readProjectFile(
  archive: Archive,
  entry: string,
  { key, path }: { key: string; path: string },
  unpacker: Unpacker,
): AsyncGenerator<ImportItem> {
  const file = await unpacker.entry(archive, entry, path)
  yield { type: 'project_file', project: key, path, file }
}

async function* readDocument(
  archive: Archive,
  entry: string,
  key: string,
): AsyncGenerator<ImportItem> {
  const document = await readJson(archive, entry, BundledDocument, MAX_DOCUMENT_BYTES)
  const { mime, passages, name, path } = wellFormed(document)
  yield { type: 'document', project: key, name, mime, path, passages }
}

async function* readMemory(archive: Archive): AsyncGenerator<ImportItem> {
  if (archive.sizeOf(MEMORY) > MAX_SMALL_BYTES)
    throw new ImportFault(storedFailure('import_unreadable', { detail: 'size' }))
  yield { type: 'memory', content: wellFormed(await textOf(archive, MEMORY)) }
}

/** One at a time, so that one that cannot be read leaves the others. */
async function* readSchedules(archive: Archive): AsyncGenerator<ImportItem> {
  const all = await readJson(archive, SCHEDULES, z.array(z.unknown()), MAX_SCHEDULES_BYTES)
  for (const [at, one] of all.entries())
    yield* orSkipped(`${SCHEDULES} ${at + 1}`, readSchedule(one))
}

async function* readSchedule(one: unknown): AsyncGenerator<ImportItem> {
  yield { type: 'schedule', schedule: wellFormed(BundledSchedule.parse(one)) }
}

/** Leaves out what cannot be read, with the reason, and continues with the rest of the bundle. */
async function* orSkipped(
  what: string,
  items: AsyncGenerator<ImportItem>,
): AsyncGenerator<ImportItem> {
  try {
    yield* items
  } catch (error) {
    yield { type: 'skipped', what, failure: failureOf(error) }
  }
}

/** Why something cannot be read, for a person. @throws errors that the file did not cause. */
export function failureOf(error: unknown) {
  if (error instanceof ImportFault) return error.failure
  if (error instanceof SyntaxError) return storedFailure('import_json_damaged')
  if (error instanceof z.ZodError) {
    const [issue] = error.issues
    return storedFailure('import_unreadable', { detail: issue?.path.join('.') || 'form' })
  }
  // Nested too deeply.
  if (error instanceof RangeError) return storedFailure('import_unreadable', { detail: 'depth' })
  throw error
}

/** @throws ImportFault when the data of the entry is damaged. */
async function textOf(archive: Archive, name: string): Promise<string> {
  const content = await archive.open(name)
  try {
    return await text(content)
  } catch {
    throw new ImportFault(storedFailure('import_archive_damaged'))
  }
}

async function readJson<Schema extends z.ZodType>(
  archive: Archive,
  name: string,
  schema: Schema,
  maxBytes: number,
): Promise<z.output<Schema>> {
  if (archive.sizeOf(name) > maxBytes)
    throw new ImportFault(storedFailure('import_unreadable', { detail: 'size' }))
  return schema.parse(JSON.parse(await textOf(archive, name)))
}
