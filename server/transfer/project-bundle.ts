// One project in and out: its bundle as a ZIP archive, its import, and its copy.
import { createHash, randomUUID } from 'node:crypto'
import { Readable, type Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type ProjectRow, settingsOf } from '../db/repositories/projects/projects.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { sizeText } from '../lib/size-text.ts'
import { createTurns } from '../lib/turns.ts'
import { BundledDocument, BundledPassage, MAX_PASSAGES } from '../protocol/conversations/export.ts'
import type { UserId } from '../protocol/ids.ts'
import { isEmoji, ProjectBundle, type ProjectSettings } from '../protocol/projects/project.ts'
import type { ImportNote } from '../protocol/projects/project-import.ts'
import { countedBytes, ENTRY_BYTES, walk } from '../workspace/files/entries.ts'
import { parsePath } from '../workspace/files/paths.ts'
import { startUpload, type Upload, type UploadLimits } from '../workspace/files/uploads.ts'
import { nameHash } from '../workspace/outside-text.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import { type Archive, openArchive } from './archive.ts'
import { ImportFault } from './import-items.ts'
import { toRefusal } from './import-refusal.ts'
import { addDocuments, addProjectFiles, createZipWriter, passagesOf } from './write-bundle.ts'

/** What a project is bundled, imported and copied with. */
export interface ProjectBundleDependencies {
  store: Pick<Store, 'documents' | 'outsideContents' | 'projects'>
  workspace: Pick<WorkspaceServices, 'workspaces' | 'pool' | 'checkpoints'>
  knowledge: Pick<Knowledge, 'addPassages'>
  offeredModels: { isOffered(userId: UserId, id: string): Promise<boolean> }
  limits: UploadLimits
}

/** The settings of a project in its bundle. */
export const ABOUT = 'project.json'
const FILES = 'files/'
const DOCUMENTS = /^documents\/[\w-]{1,64}\.json$/
/** The folder that contains all files and is removed from their paths. */
const TOP_FOLDER = 'project'
const MAX_ABOUT_BYTES = 1024 * 1024
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
const MAX_DOCUMENTS = 2_000
/** Bytes of a document that is read at once, and characters of one of its lines. */
const MAX_PART = 256 * 1024
/** Names that are tried for an import: `Name`, `Name (2)`, … */
const MAX_NAMES = 100
const MAX_NAME = 255

/** Writes the bundle of a project; resolves when `output` has ended. After a failure, `output` is destroyed. */
export async function writeProjectBundle(
  { store }: Pick<ProjectBundleDependencies, 'store'>,
  row: ProjectRow,
  workspace: Workspace,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const zip = createZipWriter(output)
  const about: ProjectBundle = {
    format: 'nanoclaw-project',
    version: 1,
    name: row.name,
    description: row.description,
    icon: row.icon,
    ...settingsOf(row),
  }
  await zip.add(ABOUT, [JSON.stringify(about, null, 2)])
  await addProjectFiles(zip, '', workspace, signal)
  await addDocuments(zip, '', row, store.documents)
  await zip.finish()
}

/** A project that was imported, and what became of its parts. */
export interface ImportedRow {
  row: ProjectRow
  notes: ImportNote[]
}

/**
 * Creates a project from a bundle. Its files are text from outside. A model that the user is not offered, an icon that is
 * the id of an image, and an approval mode that asks less are left out.
 * @param path of the archive on this machine.
 * @throws AppError `project_import_…`, or the refusal of a quota; nothing is kept then.
 */
export async function importProject(
  dependencies: ProjectBundleDependencies,
  userId: UserId,
  path: string,
): Promise<ImportedRow> {
  const { limits } = dependencies
  const archive = await openArchive(path, limits.bytes, sizeText(limits.bytes)).catch(asInvalid)
  try {
    return await importArchive(dependencies, userId, archive)
  } catch (error) {
    return asInvalid(error)
  } finally {
    archive.close()
  }
}

/** @throws AppError always: what is wrong with an archive is a fault of the request. */
function asInvalid(error: unknown): never {
  throw toRefusal(error) ?? error
}

async function importArchive(
  dependencies: ProjectBundleDependencies,
  userId: UserId,
  archive: Archive,
): Promise<ImportedRow> {
  if (archive.names.length > dependencies.limits.files + MAX_DOCUMENTS + 1)
    throw appError('upload_has_too_many_files', { limit: dependencies.limits.files })
  const [refused] = archive.skipped
  if (refused !== undefined)
    throw appError('project_import_entry_refused', { path: refused.what.slice(0, 100) })
  const about = ProjectBundle.safeParse(await readJson(archive, ABOUT, MAX_ABOUT_BYTES))
  if (!about.success) {
    const field = about.error.issues[0]?.path.join('.') ?? ''
    throw field === ''
      ? appError('project_import_entry_invalid', { path: ABOUT })
      : appError('project_import_field_invalid', { field, path: ABOUT })
  }
  const { name, description, icon, format: _format, version: _version, ...given } = about.data
  const model =
    given.model != null && (await dependencies.offeredModels.isOffered(userId, given.model))
      ? given.model
      : null
  const { approval, ...defaults } = given.defaults ?? {}
  const documents = archive.names.filter((one) => DOCUMENTS.test(one))
  if (documents.length > MAX_DOCUMENTS)
    throw appError('documents_exhausted', { limit: MAX_DOCUMENTS })
  const marks: string[] = []
  let files = 0
  const row = await createFilled(
    dependencies,
    userId,
    {
      names: numbered(name),
      description: description ?? null,
      icon: icon != null && isEmoji(icon) ? icon : null,
      settings: { ...given, model, defaults },
      size: archive.bytes,
    },
    async (upload) => {
      for (const entry of archive.names) {
        if (!entry.startsWith(FILES)) continue
        files += 1
        await addMarked(upload, entry.slice(FILES.length), await archive.open(entry), marks)
      }
    },
    (projectId) => dependencies.store.outsideContents.add(projectId, marks),
  )
  await orRemoved(dependencies, row, async () => {
    for (const entry of documents) {
      const document = await readDocument(archive, entry)
      await dependencies.knowledge.addPassages({ userId, projectId: row.id }, document)
    }
  })
  const notes: ImportNote[] = []
  const taken = (part: ImportNote['part'], is: boolean, detail?: string): void => {
    if (is) notes.push({ part, outcome: 'taken', ...(detail === undefined ? {} : { detail }) })
  }
  if (row.name !== name)
    notes.push({ part: 'name', outcome: 'changed', reason: 'name_taken', detail: row.name })
  taken('description', row.description !== null && row.description !== '')
  taken('instructions', (given.instructions ?? '') !== '')
  taken('starters', (given.starters ?? []).length > 0)
  taken('files', files > 0, String(files))
  taken('documents', documents.length > 0, String(documents.length))
  taken('model', model !== null, model ?? undefined)
  if (given.model != null && model === null)
    notes.push({ part: 'model', outcome: 'left_out', reason: 'not_offered', detail: given.model })
  taken('icon', row.icon !== null)
  if (icon != null && row.icon === null)
    notes.push({ part: 'icon', outcome: 'left_out', reason: 'not_in_file' })
  if (approval !== undefined)
    notes.push({ part: 'approval', outcome: 'left_out', reason: 'asks_less', detail: approval })
  return { row, notes }
}

/** Adds a file, and to `marks` what marks its content and its name as text from outside. */
export async function addMarked(
  upload: Upload,
  path: string,
  content: Readable,
  marks: string[],
): Promise<void> {
  const hash = createHash('sha256')
  await upload.add(
    `${TOP_FOLDER}/${path}`,
    Readable.from(hashed(content, hash), { objectMode: false }),
  )
  marks.push(hash.digest('hex'), ...path.split('/').map(nameHash))
}

/** @throws AppError `project_import_…` if the stream ends early: its data is damaged. */
async function* hashed(
  content: AsyncIterable<Buffer>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Buffer> {
  try {
    for await (const piece of content) {
      hash.update(piece)
      yield piece
    }
  } catch (error) {
    throw error instanceof AppError ? error : appError('project_import_archive_damaged')
  }
}

async function readJson(archive: Archive, entry: string, maxBytes: number): Promise<unknown> {
  if (!archive.has(entry)) throw appError('project_import_entry_missing', { path: entry })
  if (archive.sizeOf(entry) > maxBytes)
    throw appError('project_import_entry_too_large', { path: entry })
  try {
    return JSON.parse(await text(await archive.open(entry)))
  } catch (error) {
    throw error instanceof ImportFault
      ? error
      : appError('project_import_entry_invalid', { path: entry })
  }
}

/**
 * Reads a document in short turns: as bundles write it, each passage is a line of its own. One that was packed in another
 * form must be small.
 */
async function readDocument(archive: Archive, entry: string): Promise<BundledDocument> {
  const noDocument = appError('project_import_entry_invalid', { path: entry })
  const size = archive.sizeOf(entry)
  if (size > MAX_DOCUMENT_BYTES) throw appError('project_import_entry_too_large', { path: entry })
  if (size <= MAX_PART) {
    const read = BundledDocument.safeParse(await readJson(archive, entry, MAX_PART))
    if (!read.success) throw noDocument
    return read.data
  }
  const turns = createTurns()
  const content = hashed(await archive.open(entry), createHash('sha256'))
  let document: BundledDocument | null = null
  let isWhole = false
  try {
    for await (const line of linesOf(content)) {
      await turns()
      if (document === null) document = BundledDocument.parse(JSON.parse(`${line}]}`))
      else if (line === ']}') isWhole = true
      else {
        if (document.passages.length >= MAX_PASSAGES) throw noDocument
        document.passages.push(BundledPassage.parse(JSON.parse(line.replace(/,$/, ''))))
      }
    }
  } catch (error) {
    // What is wrong with the archive has a reason of its own.
    throw error instanceof AppError ? error : noDocument
  }
  if (document === null || !isWhole) throw noDocument
  return document
}

/** The lines of a text, each without its end. @throws Error for one that is longer than `MAX_PART`. */
async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of content) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > MAX_PART) throw new Error('A line is too long.')
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

/** The name, then the name with a number. */
export function* numbered(name: string): Generator<string> {
  yield name
  for (let at = 2; at <= MAX_NAMES; at += 1) {
    const end = ` (${at})`
    yield name.slice(0, MAX_NAME - end.length) + end
  }
}

/**
 * Copies a project for a user: its settings, and its files and documents with their marks of text from outside.
 * @throws AppError `project_name_taken`, or the refusal of a quota; nothing is kept then.
 */
export async function copyProject(
  dependencies: ProjectBundleDependencies,
  source: ProjectRow,
  {
    userId,
    name,
    files,
    documents,
  }: { userId: UserId; name: string; files: boolean; documents: boolean },
): Promise<ProjectRow> {
  const { store, workspace, knowledge } = dependencies
  const { description } = source
  // The image belongs to somebody else.
  const icon =
    source.icon === null || isEmoji(source.icon) || source.userId === userId ? source.icon : null
  const from = workspace.workspaces.open(source.userId, source.id)
  const marks: string[] = []
  const found = files ? await filesOf(from, dependencies.limits.files) : { paths: [], size: 0 }
  const row = await createFilled(
    dependencies,
    userId,
    { names: [name], description, icon, settings: settingsOf(source), size: found.size },
    async (upload) => {
      for (const path of found.paths) {
        const { stream } = await from.download(path)
        await addMarked(upload, path, stream, marks)
      }
    },
    async (projectId) => {
      // Asked before the marks are copied: a change is closed only after its marks are stored.
      if (await workspace.checkpoints.outsideText.isChangeOpen(from))
        await store.outsideContents.add(projectId, marks)
      await store.outsideContents.copy(source.id, projectId)
    },
  )
  if (documents) await orRemoved(dependencies, row, () => copyDocuments(source, row))
  return row

  async function copyDocuments(source: ProjectRow, row: ProjectRow): Promise<void> {
    const { items, nextCursor } = await store.documents.list(source.id, { limit: MAX_DOCUMENTS })
    if (nextCursor !== null) throw appError('documents_exhausted', { limit: MAX_DOCUMENTS })
    for (const document of items) {
      if (document.status !== 'ready' || (document.path !== null && !files)) continue
      const passages: BundledDocument['passages'] = []
      for await (const passage of passagesOf(store.documents, source, document.id))
        passages.push(passage)
      const { name, mime, path } = document
      const about = { name, mime, path: path ?? undefined, passages }
      await knowledge.addPassages({ userId, projectId: row.id }, about)
    }
  }
}

/** The paths of all files, and what they and the folders above them count together. */
async function filesOf(
  workspace: Workspace,
  limit: number,
): Promise<{ paths: string[]; size: number }> {
  const paths: string[] = []
  let size = 0
  const options = { maxEntries: 2 * limit }
  const { complete } = await walk(workspace.root, parsePath(''), options, (entry) => {
    if (entry.kind === 'directory') size += ENTRY_BYTES
    if (entry.kind !== 'file') return
    paths.push(entry.path)
    size += countedBytes('file', entry.size)
  })
  if (!complete) throw appError('upload_has_too_many_files', { limit })
  return { paths, size }
}

/** Creates a project with the files that `fill` uploads; `mark` comes before anybody can read them. */
export async function createFilled(
  { store, workspace, limits }: ProjectBundleDependencies,
  userId: UserId,
  project: {
    /** Bytes of its files; claimed before any is stored. */
    size: number
    /** The first one that is free. */
    names: Iterable<string>
    description: string | null
    icon: string | null
    settings: { [Key in keyof ProjectSettings]?: ProjectSettings[Key] | undefined }
  },
  fill: (upload: Upload) => Promise<void>,
  mark: (projectId: ProjectRow['id']) => Promise<void>,
): Promise<ProjectRow> {
  const { workspaces, pool } = workspace
  const upload = await startUpload(workspaces, pool, limits, userId)
  const claim = randomUUID()
  try {
    await workspaces.storage.claim(userId, claim, project.size)
    await fill(upload)
    await upload.staged()
    const size = upload.countedSize
    // Files may have grown since they were counted.
    if (size > project.size) await workspaces.storage.claim(userId, claim, size - project.size)
    const row = await createNamed(store, userId, { ...project, size })
    return await orRemoved({ store, workspace }, row, async () => {
      const { icon, settings } = project
      const filled = await store.projects.update(userId, row.id, { icon, settings })
      await mark(row.id)
      if (upload.files > 0) await upload.adopt(userId, row.id)
      return filled ?? row
    })
  } finally {
    workspaces.storage.release(claim)
    await upload.discard()
  }
}

async function createNamed(
  { projects }: Pick<Store, 'projects'>,
  userId: UserId,
  {
    names,
    description,
    size,
  }: { names: Iterable<string>; description: string | null; size: number },
): Promise<ProjectRow> {
  let refusal: unknown = appError('project_name_taken')
  for (const name of names) {
    try {
      return await projects.create(userId, { name, description, size })
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== 'project_name_taken') throw error
      refusal = error
    }
  }
  throw refusal
}

/** Where a project that was just made is removed. */
interface MadeIn {
  store: Pick<Store, 'projects'>
  workspace: Pick<WorkspaceServices, 'workspaces'>
}

/** Removes the project, with what it has, if `work` fails. */
export async function orRemoved<T>(
  made: MadeIn,
  row: ProjectRow,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await removeMade(made, row)
    throw error
  }
}

/** Removes a project that was just made, with what it has. */
export async function removeMade(
  { store: { projects }, workspace: { workspaces } }: MadeIn,
  row: ProjectRow,
): Promise<void> {
  await projects.remove(row.userId, row.id)
  await workspaces.remove(row.userId, row.id)
  await projects.forgetRemoved(row.id)
}
