// Routes that copy a project, and give it out and take it in as a bundle.
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import multipart from '@fastify/multipart'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import { CopyProjectBody, ProjectDetail } from '../../protocol/projects/project.ts'
import { ImportedProject } from '../../protocol/projects/project-import.ts'
import type { Services } from '../../services.ts'
import { attachmentHeader } from '../../sharing/file-name.ts'
import { importProjects } from '../../transfer/import-assistants.ts'
import { copyProject, writeProjectBundle } from '../../transfer/project-bundle.ts'
import { openProject } from '../../workspace/open-project.ts'
import { success } from '../envelope.ts'
import { receiveFile } from '../files/receive-upload.ts'
import { ownBy, presentDetail } from './projects.ts'

const tags = ['projects']
const InProject = z.object({ id: ProjectId })
const Detail = envelope(ProjectDetail)

/** `POST /api/projects/:id/copy`, `GET /api/projects/:id/bundle` and `POST /api/projects/import`. */
export function registerProjectBundleRoutes(
  app: App,
  services: Pick<
    Services,
    | 'record'
    | 'store'
    | 'workspace'
    | 'knowledge'
    | 'files'
    | 'offeredModels'
    | 'consents'
    | 'uploadSlots'
    | 'bounds'
  >,
): void {
  const { store, workspace, consents, uploadSlots, bounds, record } = services
  const { workspaces } = workspace
  const own = { projects: store.projects, workspaces }
  const dependencies = {
    ...services,
    limits: { bytes: bounds.import, files: bounds.uploadFiles },
  }

  app.post(
    '/api/projects/:id/copy',
    {
      schema: {
        summary:
          'Copy a project: its settings, files and documents, without history and conversations',
        tags,
        params: InProject,
        body: CopyProjectBody,
        response: { 200: Detail },
      },
    },
    async ({ user, params, body: { name, files = true, documents = true } }) => {
      const { row } = await openProject(own, user.id, params.id, 'read')
      const copy = await uploadSlots.run(user.id, () =>
        copyProject(dependencies, row, { userId: user.id, name, files, documents }),
      )
      const folder = workspaces.open(user.id, copy.id)
      return success(await presentDetail(ownBy(copy, user), user, folder, [], consents))
    },
  )

  app.get(
    '/api/projects/:id/bundle',
    {
      schema: {
        summary: 'Download a project with its files and documents as a ZIP archive',
        tags,
        produces: ['application/zip'],
        params: InProject,
      },
    },
    async (request, reply) => {
      const { user, params } = request
      const { row, workspace: folder } = await openProject(own, user.id, params.id, 'own')
      const actor = actorOf(request)
      await record({
        ...actor,
        action: 'exported',
        details: { project: row.id, ...actor.details },
      })
      const output = new PassThrough()
      const ended = new AbortController()
      output.once('close', () => ended.abort())
      void reply.headers({
        'content-type': 'application/zip',
        'content-disposition': attachmentHeader(`${row.name}.zip`),
        'x-content-type-options': 'nosniff',
      })
      // A failure destroys the output, which ends the response without its end.
      void writeProjectBundle(dependencies, row, folder, output, ended.signal).catch(
        (error: Error) => output.destroy(error),
      )
      return reply.send(output)
    },
  )

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: { fileSize: bounds.import + 1, files: 1, fields: 5, fieldSize: 1_000, parts: 6 },
      throwFileSizeLimit: false,
    })
    scope.post(
      '/api/projects/import',
      {
        config: { oneFile: true },
        schema: {
          summary:
            'Create projects from a bundle, or from assistants of other programs (multipart: `file`)',
          description:
            'Takes the bundle of a project, agents of LibreChat (JSON), models of Open WebUI (JSON) and character cards (JSON, PNG, CHARX). Each assistant becomes a project: the response is the first one, and its `report` says of all what was taken, changed and left out. Files are text from outside; skills and AGENTS.md need consent. A name that is taken gets a number. If anything is refused, no project is made.',
          tags,
          consumes: ['multipart/form-data'],
          response: { 200: envelope(ImportedProject) },
        },
      },
      async (request) => {
        const { user } = request
        const { rows, report } = await receiveFile(request, uploadSlots, async (part) => {
          const path = join(workspaces.staging, randomUUID())
          const folder = `${path}.parts`
          try {
            await mkdir(folder, { mode: 0o700 })
            await pipeline(part.file, createWriteStream(path, { mode: 0o600 }))
            if (part.file.truncated)
              throw appError('upload_too_large', { limit: `${bounds.import} B` })
            return await importProjects(dependencies, user.id, { path, folder })
          } finally {
            await rm(path, { force: true })
            await rm(folder, { recursive: true, force: true })
          }
        })
        const [row] = rows
        const folder = workspaces.open(user.id, row.id)
        const detail = await presentDetail(ownBy(row, user), user, folder, [], consents)
        return success({ ...detail, report })
      },
    )
  })
}
