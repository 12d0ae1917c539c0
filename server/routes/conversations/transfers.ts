// Routes for full exports and for imports. Both run in the background.

import multipart from '@fastify/multipart'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { TransferRow } from '../../db/repositories/conversations/transfers.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import {
  CreateExportBody,
  ExportJob,
  ExportJobs,
  ImportFormat,
  ImportJob,
  ImportJobs,
} from '../../protocol/conversations/transfer.ts'
import { envelope } from '../../protocol/envelope.ts'
import { storedFailureText } from '../../protocol/failures/stored.ts'
import { TransferId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { attachmentHeader } from '../../sharing/file-name.ts'
import { EXPORT_KEPT_MS } from '../../transfer/jobs.ts'
import { success } from '../envelope.ts'
import { receiveFile } from '../files/receive-upload.ts'

const tags = ['sharing']
const Params = z.object({ id: TransferId })

/** `/api/exports` and `/api/imports`. */
export function registerTransferRoutes(
  app: App,
  services: Pick<Services, 'transfers' | 'uploadSlots' | 'bounds'>,
): void {
  registerExportJobs(app, services)
  registerImportJobs(app, services)
}

function registerExportJobs(app: App, { transfers: jobs }: Pick<Services, 'transfers'>): void {
  app.post(
    '/api/exports',
    {
      schema: {
        summary: 'Export all your data, or some conversations, as a ZIP archive',
        description:
          'Creates the archive in the background and deletes it after a day; a new export replaces the last one. The archive contains conversations with all branches, files, memory, projects with documents, usage and settings, but no keys or other secrets.',
        tags,
        body: CreateExportBody,
        response: { 200: envelope(ExportJob) },
      },
    },
    async (request) => {
      const wanted = request.body?.conversation_ids ?? null
      const row = await jobs.createExport(request.user.id, wanted, actorOf(request))
      return success(presentExport(row))
    },
  )

  app.get(
    '/api/exports',
    {
      schema: {
        summary: 'List your exports, newest first',
        tags,
        response: { 200: envelope(ExportJobs) },
      },
    },
    async ({ user }) => success({ items: (await jobs.list(user.id, 'export')).map(presentExport) }),
  )

  app.get(
    '/api/exports/:id',
    {
      schema: {
        summary: 'Get the state of an export',
        tags,
        params: Params,
        response: { 200: envelope(ExportJob) },
      },
    },
    async ({ user, params }) => {
      const row = await jobs.find(user.id, 'export', params.id)
      if (row === undefined) throw appError('export_not_found')
      return success(presentExport(row))
    },
  )

  app.get(
    '/api/exports/:id/file',
    {
      schema: {
        summary: 'Download the archive of a completed export',
        tags,
        produces: ['application/zip'],
        params: Params,
      },
    },
    async ({ user, params }, reply) => {
      const { row, content } = await jobs.openExport(user.id, params.id)
      void reply.headers({
        'content-type': 'application/zip',
        'content-length': row.size ?? 0,
        'content-disposition': attachmentHeader(
          `nanoclaw-${row.createdAt.toISOString().slice(0, 10)}.zip`,
        ),
        'x-content-type-options': 'nosniff',
      })
      return reply.send(content)
    },
  )
}

function registerImportJobs(
  app: App,
  { transfers: jobs, uploadSlots, bounds }: Pick<Services, 'transfers' | 'uploadSlots' | 'bounds'>,
): void {
  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: { fileSize: bounds.import, files: 1, fields: 20, fieldSize: 1_000, parts: 21 },
      throwFileSizeLimit: false,
    })
    scope.post(
      '/api/imports',
      {
        config: { oneFile: true },
        schema: {
          summary: 'Import conversations from a file (multipart: `file`, `format?` before it)',
          description:
            'Accepts NanoClaw bundles, exports from ChatGPT, Claude, Open WebUI and LibreChat, and the SQLite file of the Python NanoClaw. Importing the same file again adds nothing. The text is marked as text from outside.',
          tags,
          consumes: ['multipart/form-data'],
          response: { 200: envelope(ImportJob) },
        },
      },
      async (request) =>
        await receiveFile(request, uploadSlots, async (part) => {
          const field = part.fields.format
          const given = field !== undefined && 'value' in field ? field.value : undefined
          const format = ImportFormat.optional().safeParse(given === '' ? undefined : given)
          if (!format.success) throw appError('import_invalid', { detail: 'format' })
          const row = await jobs.createImport(
            request.user.id,
            {
              name: (part.filename ?? '').slice(-255),
              content: part.file,
              isCut: () => part.file.truncated,
            },
            format.data ?? null,
          )
          return success(presentImport(row))
        }),
    )
  })

  app.get(
    '/api/imports',
    {
      schema: {
        summary: 'List your imports, newest first',
        tags,
        response: { 200: envelope(ImportJobs) },
      },
    },
    async ({ user }) => success({ items: (await jobs.list(user.id, 'import')).map(presentImport) }),
  )

  app.get(
    '/api/imports/:id',
    {
      schema: {
        summary: 'Get the progress and the report of an import',
        tags,
        params: Params,
        response: { 200: envelope(ImportJob) },
      },
    },
    async ({ user, params }) => {
      const row = await jobs.find(user.id, 'import', params.id)
      if (row === undefined) throw appError('import_not_found')
      return success(presentImport(row))
    },
  )
}

const presentCommon = (row: TransferRow) => ({
  id: row.id,
  status: row.status,
  progress: { done: row.done, total: row.total },
  error: row.failure === null ? null : storedFailureText(row.failure),
  reason: row.failure?.reason ?? null,
  ...(row.failure?.params === undefined ? {} : { params: row.failure.params }),
  created_at: row.createdAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
})

const presentExport = (row: TransferRow): ExportJob => ({
  ...presentCommon(row),
  size: row.size,
  expires_at:
    row.endedAt === null || row.size === null
      ? null
      : new Date(row.endedAt.getTime() + EXPORT_KEPT_MS).toISOString(),
})

const presentImport = (row: TransferRow): ImportJob => ({
  ...presentCommon(row),
  name: row.name ?? '',
  format: row.format,
  report: row.report,
})
