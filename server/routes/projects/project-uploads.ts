// Routes for uploading files and folders (multipart), as a new project or into an existing one.

import { randomUUID } from 'node:crypto'
import multipart from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ProjectRow } from '../../db/repositories/projects/projects.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import {
  AddFilesFields,
  CreateProjectBody,
  FilesAdded,
  ProjectDetail,
} from '../../protocol/projects/project.ts'
import type { Services } from '../../services.ts'
import { placeUpload } from '../../workspace/checkpoints/place-upload.ts'
import { startUpload, type Upload } from '../../workspace/files/uploads.ts'
import { openProject } from '../../workspace/open-project.ts'
import { success } from '../envelope.ts'
import { receiveUpload } from '../files/receive-upload.ts'
import { ownBy, presentDetail } from './projects.ts'

type Fields = Record<string, unknown>

/** `POST /api/projects/upload` and `POST /api/projects/:id/files`. */
export function registerProjectUploadRoutes(
  app: App,
  services: Pick<Services, 'store' | 'workspace' | 'consents' | 'bounds' | 'uploadSlots'>,
): void {
  const { store, workspace, consents, bounds } = services
  const { workspaces } = workspace
  const own = { projects: store.projects, workspaces }

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: {
        fields: 20,
        fieldSize: 10_000,
        // One more than allowed, so that the upload itself counts the files and rejects the request.
        files: bounds.uploadFiles + 1,
        parts: bounds.uploadFiles + 21,
        fileSize: bounds.upload + 1,
      },
    })

    scope.post(
      '/api/projects/upload',
      {
        schema: {
          summary: 'Create a project from a folder (multipart: `name`, `description?`, `files[]`)',
          tags: ['projects'],
          consumes: ['multipart/form-data'],
          response: { 200: envelope(ProjectDetail) },
        },
      },
      async (request) => {
        const { user } = request
        const row = await receive(services, request, (upload, fields) =>
          createProject(services, upload, fields, user.id),
        )
        return success(
          await presentDetail(
            ownBy(row, user),
            user,
            workspaces.open(user.id, row.id),
            [],
            consents,
          ),
        )
      },
    )

    scope.post(
      '/api/projects/:id/files',
      {
        schema: {
          summary:
            'Upload files to a project in one checkpoint (multipart: `files[]`, each named by its relative path, and `path?`, the target folder); replaces files with the same name',
          tags: ['project files'],
          consumes: ['multipart/form-data'],
          params: z.object({ id: ProjectId }),
          response: { 200: envelope(FilesAdded) },
        },
      },
      async (request) => {
        const { user, params } = request
        await openProject(own, user.id, params.id, 'change')
        const { added, replaced, bytes } = await receive(
          services,
          request,
          async (upload, fields) => {
            const { path = '' } = readFields(AddFilesFields, fields, 'The `path` is too long.')
            // Checked again: the upload may have taken minutes.
            const project = await openProject(own, user.id, params.id, 'change')
            return placeUpload(workspace, project.workspace, upload, path)
          },
        )
        return success({ added, replaced, total_size: bytes })
      },
    )
  })
}

/** Stages all files, then passes them to `use`. After a failure, all staged files are removed. */
const receive = <T>(
  {
    workspace: { workspaces, pool },
    bounds,
    uploadSlots,
  }: Pick<Services, 'workspace' | 'bounds' | 'uploadSlots'>,
  request: FastifyRequest,
  use: (upload: Upload, fields: Fields) => Promise<T>,
): Promise<T> =>
  receiveUpload(request, uploadSlots, async (read) => {
    const upload = await startUpload(
      workspaces,
      pool,
      { bytes: bounds.upload, files: bounds.uploadFiles },
      request.user.id,
    )
    try {
      const fields: Fields = {}
      for await (const part of read()) {
        if (part.type === 'file') await upload.add(part.filename, part.file)
        else fields[part.fieldname] = part.value
      }
      if (upload.files === 0) throw appError('files_missing')
      return await use(upload, fields)
    } finally {
      await upload.discard()
    }
  })

/** Creates the project of an upload. Counts against the quota while it is stored. */
const createProject = async (
  { store: { projects }, workspace: { workspaces } }: Pick<Services, 'store' | 'workspace'>,
  upload: Upload,
  fields: Fields,
  userId: ProjectRow['userId'],
): Promise<ProjectRow> => {
  const { name, description } = readFields(
    CreateProjectBody,
    fields,
    'The upload needs a `name` of 1 to 255 characters.',
  )
  await upload.staged()
  const size = upload.countedSize
  const claim = randomUUID()
  await workspaces.storage.claim(userId, claim, size)
  try {
    const row = await projects.create(userId, { name, description: description ?? null, size })
    try {
      await upload.adopt(userId, row.id)
    } catch (error) {
      await projects.remove(userId, row.id)
      throw error
    }
    return row
  } finally {
    workspaces.storage.release(claim)
  }
}

function readFields<Schema extends z.ZodType>(
  schema: Schema,
  fields: Fields,
  message: string,
): z.output<Schema> {
  const read = schema.safeParse(fields)
  if (read.success) return read.data
  throw appError(
    'upload_fields_invalid',
    { detail: message },
    {
      details: read.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
    },
  )
}
