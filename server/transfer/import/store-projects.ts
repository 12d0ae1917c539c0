// Stores the projects of an import: the files as one upload, the documents with their exported passages.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { ProjectRepository } from '../../db/repositories/projects/projects.ts'
import { AppError } from '../../errors.ts'
import type { Knowledge } from '../../knowledge/knowledge.ts'
import { newId } from '../../lib/ids.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import type { ConversationId, ProjectId, UserId } from '../../protocol/ids.ts'
import { startUpload, type Upload, type UploadLimits } from '../../workspace/files/uploads.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import { SCRATCH_BYTES } from '../../workspace/workspaces.ts'
import type { ImportedFile, ImportedPassage } from '../import-items.ts'
import type { ReportWriter } from '../import-report.ts'

/** The dependencies for storing imported projects. */
export interface ProjectStoring {
  store: { projects: Pick<ProjectRepository, 'names' | 'create' | 'createScratch' | 'remove'> }
  workspace: Pick<WorkspaceServices, 'workspaces' | 'pool'>
  knowledge: Pick<Knowledge, 'addPassages'>
  uploadLimits: UploadLimits
}

/** Stores imported projects. */
export interface ProjectWriter {
  /** Begins a project. @returns whether its contents are wanted; false when the user has one of this name. */
  begin(key: string, name: string, description: string | null): Promise<boolean>
  /** Begins the files of a conversation without a project; those of null are not wanted. @returns whether they are. */
  beginScratch(key: string, title: string, conversationId: ConversationId | null): Promise<boolean>
  addFile(key: string, path: string, file: ImportedFile): Promise<void>
  addDocument(
    key: string,
    document: {
      name: string
      mime: string
      path?: string | undefined
      passages: readonly ImportedPassage[]
    },
  ): Promise<void>
  /**
   * Creates the open project, if there is one, once all its files were added. Call it before storing anything that is not a
   * file.
   */
  complete(): Promise<void>
  idOf(key: string): ProjectId | null
  /** Removes an incomplete project. */
  discard(): Promise<void>
}

/** The folder that contains all files and is removed from their paths. */
const TOP_FOLDER = 'project'

interface OpenProject {
  key: string
  name: string
  description: string | null
  /** Whose files it holds; null for an ordinary project. */
  conversationId: ConversationId | null
  upload: Upload
}

/** Create one per import: it remembers which project of the archive became which row. */
export function createProjectWriter(
  { store: { projects }, workspace, knowledge, uploadLimits }: ProjectStoring,
  userId: UserId,
  report: ReportWriter,
): ProjectWriter {
  const { workspaces, pool } = workspace
  const ids = new Map<string, ProjectId>()
  /** Keys of projects that were created by this import. */
  const created = new Set<string>()
  let open: OpenProject | null = null

  async function createProject(
    { name, description, upload, conversationId }: OpenProject,
    size: number,
  ): Promise<ProjectId> {
    const row =
      conversationId === null
        ? await projects.create(userId, { name, description, size })
        : await projects.createScratch(userId, conversationId, size)
    try {
      if (upload.files > 0) await upload.adopt(userId, row.id)
    } catch (error) {
      await projects.remove(userId, row.id)
      throw error
    }
    return row.id
  }

  return {
    async begin(key, name, description) {
      const there = (await projects.names(userId)).find((project) => project.name === name)
      if (there !== undefined) {
        ids.set(key, there.id)
        report.skip(name, storedFailure('import_project_exists'))
        return false
      }
      open = {
        key,
        name,
        description,
        conversationId: null,
        upload: await startUpload(workspaces, pool, uploadLimits, userId),
      }
      return true
    },

    async beginScratch(key, name, conversationId) {
      if (conversationId === null) return false
      const { files, bytes } = uploadLimits
      const limits = { files, bytes: Math.min(bytes, SCRATCH_BYTES) }
      const upload = await startUpload(workspaces, pool, limits, userId)
      open = { key, name, description: null, conversationId, upload }
      return true
    },

    async addFile(key, path, file) {
      try {
        if (open?.key !== key) return
        await open.upload.add(`${TOP_FOLDER}/${path}`, createReadStream(file.path))
        report.count('files')
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        report.skip(path, storedFailure('import_file_refused', { detail: error.message }))
      } finally {
        await rm(file.path, { force: true })
      }
    },

    async complete() {
      if (open === null) return
      const project = open
      open = null
      const claim = newId<string>()
      try {
        await project.upload.staged()
        const size = project.upload.countedSize
        await workspaces.storage.claim(userId, claim, size)
        ids.set(project.key, await createProject(project, size))
        created.add(project.key)
        if (project.conversationId === null) report.count('projects')
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        report.skip(project.name, storedFailure('import_file_refused', { detail: error.message }))
      } finally {
        workspaces.storage.release(claim)
        await project.upload.discard()
      }
    },

    async addDocument(key, document) {
      const projectId = ids.get(key)
      if (projectId === undefined || !created.has(key)) return
      try {
        await knowledge.addPassages({ userId, projectId }, document)
        report.count('documents')
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        report.skip(document.name, storedFailure('import_file_refused', { detail: error.message }))
      }
    },

    idOf: (key) => ids.get(key) ?? null,

    async discard() {
      await open?.upload.discard()
      open = null
    },
  }
}
