// Projects: list, make, upload as a folder, show, rename, delete.
import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ProjectRepository, ProjectRow } from '../db/repositories/projects.ts'
import { AppError } from '../errors.ts'
import type { App } from '../plugins/app.ts'
import { Deleted, envelope } from '../protocol/envelope.ts'
import { ProjectId } from '../protocol/ids.ts'
import {
  CreateProjectBody,
  Project,
  ProjectDetail,
  ProjectListQuery,
  ProjectPage,
  UpdateProjectBody,
} from '../protocol/project.ts'
import { startUpload, type UploadLimits } from '../workspace/uploads.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspaceRoom } from '../workspace/workspace-room.ts'
import { deleted, success } from './answers.ts'
import { refusingBroken } from './broken-upload.ts'
import { ownProject } from './own-project.ts'

export interface ProjectRouteDependencies {
  projects: ProjectRepository
  room: WorkspaceRoom
  uploadLimits: UploadLimits
}

const DEFAULT_LIMIT = 50
const tags = ['projects']
const Params = z.object({ id: ProjectId })
const Detail = envelope(ProjectDetail)

/** `/api/projects`, `/api/projects/upload` and `/api/projects/:id`. */
export function registerProjectRoutes(
  app: App,
  { projects, room, uploadLimits }: ProjectRouteDependencies,
): void {
  const { workspaces, lanes, pool } = room
  const own = { projects, workspaces }

  app.get(
    '/api/projects',
    {
      schema: {
        summary: 'The own projects, newest change first',
        tags,
        querystring: ProjectListQuery,
        response: { 200: envelope(ProjectPage) },
      },
    },
    async ({ user, query }) => {
      const page = await projects.list(user.id, {
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success({
        items: page.items.map(presentProject),
        next_cursor: page.nextCursor,
        has_more: page.hasMore,
        total: page.total,
      })
    },
  )

  app.post(
    '/api/projects',
    {
      schema: {
        summary: 'Make an empty project',
        tags,
        body: CreateProjectBody,
        response: { 200: Detail },
      },
    },
    async ({ user, body }) => {
      const row = await projects.create(user.id, {
        name: body.name,
        description: body.description ?? null,
      })
      return success(await presentDetail(row, workspaces.open(user.id, row.id)))
    },
  )

  app.get(
    '/api/projects/:id',
    {
      schema: {
        summary: 'One project with what is in it',
        tags,
        params: Params,
        response: { 200: Detail },
      },
    },
    async ({ user, params }) => {
      const { row, workspace } = await ownProject(own, user.id, params.id)
      return success(await presentDetail(row, workspace))
    },
  )

  app.put(
    '/api/projects/:id',
    {
      schema: {
        summary: 'Change name or description',
        tags,
        params: Params,
        body: UpdateProjectBody,
        response: { 200: envelope(Project) },
      },
    },
    async ({ user, params, body }) => {
      const row = await projects.update(user.id, params.id, body)
      if (row === undefined) throw new AppError('not_found', 'There is no such project.')
      return success(presentProject(row))
    },
  )

  app.delete(
    '/api/projects/:id',
    {
      schema: {
        summary: 'Delete a project with its files and checkpoints; its conversations stay',
        tags,
        params: Params,
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      await ownProject(own, user.id, params.id)
      await lanes.run(params.id, async () => {
        await projects.remove(user.id, params.id)
        await workspaces.remove(user.id, params.id)
      })
      return deleted
    },
  )

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: {
        fields: 20,
        fieldSize: 10_000,
        // One more than allowed, so that it is the upload itself that counts and refuses.
        files: uploadLimits.files + 1,
        parts: uploadLimits.files + 21,
        fileSize: uploadLimits.bytes + 1,
      },
    })
    scope.post(
      '/api/projects/upload',
      {
        schema: {
          summary: 'Make a project of a folder (multipart: `name`, `description?`, `files[]`)',
          tags,
          consumes: ['multipart/form-data'],
          response: { 200: Detail },
        },
      },
      async (request, reply) => {
        const row = await refusingBroken(() => receiveUpload(request, reply))
        return success(await presentDetail(row, workspaces.open(request.user.id, row.id)))
      },
    )
  })

  /** All or nothing: the files are in place before the answer, and nothing is left after a failure. */
  async function receiveUpload(request: FastifyRequest, reply: FastifyReply): Promise<ProjectRow> {
    if (!request.isMultipart())
      throw new AppError('bad_request', 'Send the files as multipart/form-data.')
    const upload = await startUpload(workspaces, pool, uploadLimits)
    try {
      const fields: Record<string, unknown> = {}
      for await (const part of request.parts({ preservePath: true })) {
        if (part.type === 'file') await upload.add(part.filename, part.file)
        else fields[part.fieldname] = part.value
      }
      const { name, description } = readFields(fields)
      if (upload.files === 0)
        throw new AppError('bad_request', 'Send at least one file in the field `files[]`.')
      const row = await projects.create(request.user.id, { name, description: description ?? null })
      try {
        await upload.adopt(request.user.id, row.id)
      } catch (error) {
        await projects.remove(request.user.id, row.id)
        throw error
      }
      return row
    } catch (error) {
      // What is still on its way is not waited for.
      reply.header('connection', 'close')
      throw error
    } finally {
      await upload.discard()
    }
  }
}

function readFields(fields: Record<string, unknown>): z.output<typeof CreateProjectBody> {
  const read = CreateProjectBody.safeParse(fields)
  if (read.success) return read.data
  throw new AppError('validation_failed', 'The upload needs a `name` of 1 to 255 characters.', {
    details: read.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
  })
}

const presentProject = (row: ProjectRow): Project => ({
  id: row.id,
  name: row.name,
  description: row.description,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
})

const presentDetail = async (row: ProjectRow, workspace: Workspace) => {
  const { files, directories, totalSize } = await workspace.stats()
  return { ...presentProject(row), stats: { files, directories, total_size: totalSize } }
}
