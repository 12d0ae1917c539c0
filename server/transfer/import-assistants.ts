// Makes projects of a file: a bundle, or assistants of another program: agents of LibreChat, models of Open WebUI, character
// cards.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ProjectRow } from '../db/repositories/projects/projects.ts'
import { AppError, appError, receivedError } from '../errors.ts'
import type { FileService } from '../files/files.ts'
import { sizeText } from '../lib/size-text.ts'
import { createWorkerClient } from '../lib/worker-client.ts'
import type { FileId, UserId } from '../protocol/ids.ts'
import type { ImportNote, ProjectImportReport } from '../protocol/projects/project-import.ts'
import { openArchive } from './archive.ts'
import type { AssistantsReply, AssistantsRequest } from './assistants/assistants.child.ts'
import type { AssistantDraft } from './assistants/draft.ts'
import { CARD, type FoundAssistants, ZIP_MAGIC } from './assistants/read-file.ts'
import { ImportFault } from './import-items.ts'
import {
  ABOUT,
  addMarked,
  createFilled,
  importProject,
  numbered,
  orRemoved,
  type ProjectBundleDependencies,
  removeMade,
} from './project-bundle.ts'

/** What assistants become projects with. */
export interface AssistantDependencies extends ProjectBundleDependencies {
  files: Pick<FileService, 'upload' | 'remove'>
}

/** Projects that an import has made, in the order of the file. */
export interface ImportedProjects {
  rows: [ProjectRow, ...ProjectRow[]]
  report: ProjectImportReport
}

const MAX_HEAP_MB = 512
const START_TIMEOUT_MS = 30_000
const READ_TIMEOUT_MS = 30_000
const IDLE_MS = 1_000

/**
 * Creates the projects that a file holds: one of a bundle, or one for each assistant of another program.
 * @param file with its path on this machine, and an empty folder for what is taken from it; the caller removes both.
 * @throws AppError `project_import_…` for any other file, or the refusal of a quota; nothing is kept then.
 */
export async function importProjects(
  dependencies: AssistantDependencies,
  userId: UserId,
  file: { path: string; folder: string },
): Promise<ImportedProjects> {
  if (!(await isBundle(file.path, dependencies.limits.bytes)))
    return await importAssistants(dependencies, userId, file)
  const { row, notes } = await importProject(dependencies, userId, file.path)
  const projects = [{ id: row.id, name: row.name, notes }]
  return { rows: [row], report: { format: 'nanoclaw', projects, skipped: 0 } }
}

/** Whether a file is an archive other than that of a character card. */
async function isBundle(path: string, maxBytes: number): Promise<boolean> {
  const handle = await open(path)
  try {
    const { buffer } = await handle.read(Buffer.alloc(ZIP_MAGIC.length), 0, ZIP_MAGIC.length, 0)
    if (buffer.toString('latin1') !== ZIP_MAGIC) return false
  } finally {
    await handle.close()
  }
  try {
    const archive = await openArchive(path, maxBytes, sizeText(maxBytes))
    archive.close()
    return archive.has(ABOUT) || !archive.has(CARD)
  } catch (error) {
    // Whoever reads it says what is wrong.
    if (error instanceof ImportFault) return true
    throw error
  }
}

/**
 * Creates a project for each assistant in a file. What it brings is text from outside, except its instructions, which the
 * person who imports them can read.
 * @throws AppError `project_import_…` for a file without assistants, or the refusal of a quota; nothing is kept then.
 */
async function importAssistants(
  dependencies: AssistantDependencies,
  userId: UserId,
  file: { path: string; folder: string },
): Promise<ImportedProjects> {
  const { format, drafts, skipped } = await read(file, dependencies.limits.bytes)
  const made: Made[] = []
  try {
    for (const draft of drafts) made.push(await importOne(dependencies, userId, draft))
  } catch (error) {
    for (const one of made) await undo(dependencies, one)
    throw error
  }
  const [first, ...rest] = made.map(({ row }) => row)
  if (first === undefined) throw new Error('A file without assistants was not refused')
  return {
    rows: [first, ...rest],
    report: {
      format,
      projects: made.map(({ row, notes }) => ({ id: row.id, name: row.name, notes })),
      skipped,
    },
  }
}

/** Reads the file in a thread, which ends with it: a hostile file takes its time and memory, not the server's. */
async function read(
  { path, folder }: { path: string; folder: string },
  maxBytes: number,
): Promise<FoundAssistants> {
  const reader = createWorkerClient<AssistantsRequest, AssistantsReply>(
    'transfer/assistants/assistants.child',
    {
      worker: { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } },
      startTimeoutMs: START_TIMEOUT_MS,
      idleMs: IDLE_MS,
      timeoutError: () => appError('project_import_too_costly'),
    },
  )
  try {
    const reply = await reader.request(
      { file: path, folder, maxBytes },
      { timeoutMs: READ_TIMEOUT_MS },
    )
    if (!reply.ok) throw receivedError(reply.error)
    return reply.found
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw appError('project_import_too_costly')
    throw error
  } finally {
    await reader.close()
  }
}

interface Made {
  row: ProjectRow
  notes: ImportNote[]
  icon: FileId | null
}

async function importOne(
  dependencies: AssistantDependencies,
  userId: UserId,
  draft: AssistantDraft,
): Promise<Made> {
  const { store, offeredModels, knowledge, files } = dependencies
  const notes = [...draft.notes]
  const isOffered = draft.model !== null && (await offeredModels.isOffered(userId, draft.model))
  if (draft.model !== null)
    notes.push({
      part: 'model',
      detail: draft.model,
      ...(isOffered ? { outcome: 'taken' } : { outcome: 'left_out', reason: 'not_offered' }),
    })
  const icon = await uploadIcon(dependencies, userId, draft.icon)
  if (draft.icon !== null)
    notes.push({
      part: 'icon',
      ...(icon === null ? { outcome: 'left_out', reason: 'unreadable' } : { outcome: 'taken' }),
    })
  const size = draft.files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const marks: string[] = []
  try {
    const row = await createFilled(
      dependencies,
      userId,
      {
        names: numbered(draft.name),
        description: draft.description,
        icon,
        settings: {
          instructions: draft.instructions,
          starters: draft.starters,
          defaults: draft.defaults,
          model: isOffered ? draft.model : null,
        },
        size,
      },
      async (upload) => {
        for (const { path, text } of draft.files)
          await addMarked(upload, path, Readable.from([Buffer.from(text)]), marks)
      },
      (projectId) => store.outsideContents.add(projectId, marks),
    )
    await orRemoved(dependencies, row, async () => {
      for (const { path, passages } of draft.files)
        if (passages !== null)
          await knowledge.addPassages(
            { userId, projectId: row.id },
            { name: path, mime: 'text/markdown', path, passages },
          )
    })
    if (row.name !== draft.name)
      notes.push({ part: 'name', outcome: 'changed', reason: 'name_taken', detail: row.name })
    return { row, notes, icon }
  } catch (error) {
    if (icon !== null) await files.remove(userId, icon)
    throw error
  }
}

/** Stores an image for a project; null for one that is none. @throws AppError the refusal of a quota. */
async function uploadIcon(
  { files }: AssistantDependencies,
  userId: UserId,
  icon: AssistantDraft['icon'],
): Promise<FileId | null> {
  if (icon === null) return null
  try {
    const { id, kind } = await files.upload(userId, {
      name: 'icon',
      content: createReadStream(icon.path),
      isCut: () => false,
    })
    if (kind === 'image') return id
    await files.remove(userId, id)
    return null
  } catch (error) {
    const isUnfit =
      error instanceof AppError &&
      ['image_unreadable', 'file_type_unsupported', 'file_upload_too_large'].includes(error.reason)
    // A picture that is the import itself is damaged or hostile.
    if (!isUnfit || icon.isWhole) throw error
    return null
  }
}

async function undo(dependencies: AssistantDependencies, { row, icon }: Made): Promise<void> {
  await removeMade(dependencies, row)
  if (icon !== null) await dependencies.files.remove(row.userId, icon)
}
