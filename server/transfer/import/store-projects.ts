// Stores the projects of an import: the files as one upload, the documents with their exported passages.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { ProjectRepository } from '../../db/repositories/projects/projects.ts'
import { AppError } from '../../errors.ts'
import type { Knowledge } from '../../knowledge/knowledge.ts'
import { newId } from '../../lib/ids.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import { startUpload, type Upload, type UploadLimits } from '../../workspace/files/uploads.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import type { ImportedFile, ImportedPassage } from '../import-items.ts'
import type { ReportWriter } from '../import-report.ts'

/** The dependencies for storing imported projects. */
export interface ProjectStoring {
  projects: Pick<ProjectRepository, 'names' | 'create' | 'remove'>
  workspace: Pick<WorkspaceServices, 'workspaces' | 'pool'>
  knowledge: Pick<Knowledge, 'addPassages'>
  uploadLimits: UploadLimits
}

/** Stores imported projects. */
export interface ProjectWriter {
  /** Begins a project. @returns whether its contents are wanted; false when the user has one of this name. */
  begin(key: string, name: string, description: string | null): Promise<boolean>
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

/** Create one per import: it remembers which project of the archive became which row. */
export function createProjectWriter(
  { projects, workspace, knowledge, uploadLimits }: ProjectStoring,
  userId: UserId,
  report: ReportWriter,
): ProjectWriter {
  const { workspaces, pool } = workspace
  const ids = new Map<string, ProjectId>()
  /** Keys of projects that were created by this import. */
  const created = new Set<string>()
  let open: { key: string; name: string; description: string | null; upload: Upload } | null = null

  async function createProject(
    { name, description, upload }: NonNullable<typeof open>,
    size: number,
  ): Promise<ProjectId> {
    const row = await projects.create(userId, { name, description, size })
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
        upload: await startUpload(workspaces, pool, uploadLimits, userId),
      }
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
        report.count('projects')
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
