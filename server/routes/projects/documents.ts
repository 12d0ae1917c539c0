// Routes for the documents of a project: upload, list, read passages, delete.

import multipart from '@fastify/multipart'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { DocumentRow } from '../../db/repositories/projects/documents.ts'
import type { ProjectRepository } from '../../db/repositories/projects/projects.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { Knowledge } from '../../knowledge/knowledge.ts'
import { EncodingChoice } from '../../protocol/conversations/file.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import {
  Document,
  DocumentListQuery,
  DocumentPage,
  PassageList,
  PassageQuery,
  SearchableFileBody,
  UploadedDocuments,
} from '../../protocol/projects/knowledge.ts'
import { MAX_DOCUMENTS_PER_UPLOAD } from '../../protocol/projects/upload-limits.ts'
import type { Services } from '../../services.ts'
import { parsePath } from '../../workspace/files/paths.ts'
import { requireProject } from '../../workspace/open-project.ts'
import { deleted, presentPage, success } from '../envelope.ts'
import { receiveUpload } from '../files/receive-upload.ts'

/** Of the store, only the projects. */
type DocumentServices = Pick<Services, 'knowledge' | 'uploadSlots'> & {
  store: { projects: Pick<ProjectRepository, 'find'> }
  bounds: Pick<Services['bounds'], 'document'>
}

const InProject = z.object({ id: ProjectId })
const OneDocument = z.object({ id: ProjectId, did: z.string().min(1).max(64) })
const tags = ['documents']

/** `/api/projects/:id/documents` and the routes below. */
export function registerDocumentRoutes(app: App, services: DocumentServices): void {
  registerReading(app, services)
  registerUpload(app, services)
  registerSearchableFiles(app, services)
}

/** Routes that list, read and delete documents. */
function registerReading(
  app: App,
  { knowledge, store: { projects } }: Pick<DocumentServices, 'knowledge' | 'store'>,
): void {
  app.get(
    '/api/projects/:id/documents',
    {
      schema: {
        summary: 'List documents, newest first',
        tags,
        params: InProject,
        querystring: DocumentListQuery,
        response: { 200: envelope(DocumentPage) },
      },
    },
    async ({ user, params, query }) => {
      await requireProject(projects, user.id, params.id, 'read')
      const found = await knowledge.list(params.id, {
        limit: query.limit ?? 50,
        cursor: query.cursor,
        withoutFile: query.without_file === 'true',
      })
      return success(presentPage(found, presentDocument))
    },
  )

  app.get(
    '/api/projects/:id/documents/:did/passages',
    {
      schema: {
        summary: 'Get the passages of a document from the position of a citation',
        tags,
        params: OneDocument,
        querystring: PassageQuery,
        response: { 200: envelope(PassageList) },
      },
    },
    async ({ user, params, query }) => {
      await requireProject(projects, user.id, params.id, 'read')
      const document = await getDocument(knowledge, params.id, params.did)
      const { position = 0, limit = 10 } = query
      const passages = await knowledge.passagesOf(params.id, document.id, position, limit)
      return success({
        document: presentDocument(document),
        items: passages.map(({ position: at, heading, page, text }) => ({
          position: at,
          heading,
          page,
          text,
        })),
      })
    },
  )

  app.patch(
    '/api/projects/:id/documents/:did',
    {
      schema: {
        summary: 'Read a text document in another encoding; it is processed in the background',
        description:
          'For a text whose encoding was taken for another one. Only a document with an `encoding` has a choice.',
        tags,
        params: OneDocument,
        body: EncodingChoice,
        response: { 200: envelope(Document) },
      },
    },
    async ({ user, params, body }) => {
      await requireProject(projects, user.id, params.id, 'change')
      return success(presentDocument(await knowledge.readAs(params.id, params.did, body.encoding)))
    },
  )

  app.delete(
    '/api/projects/:id/documents/:did',
    {
      schema: {
        summary: 'Delete a document',
        tags,
        params: OneDocument,
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      await requireProject(projects, user.id, params.id, 'change')
      if (!(await knowledge.remove(params.id, params.did))) throw appError('document_not_found')
      return deleted
    },
  )
}

/** Routes that add documents. */
function registerUpload(app: App, services: DocumentServices): void {
  const { knowledge, uploadSlots, bounds } = services
  const { projects } = services.store

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: {
        fileSize: bounds.document,
        files: MAX_DOCUMENTS_PER_UPLOAD,
        fields: 20,
        fieldSize: 10_000,
        parts: 100,
      },
      throwFileSizeLimit: false,
    })
    scope.post(
      '/api/projects/:id/documents',
      {
        schema: {
          summary: 'Upload documents (multipart: `files[]`); they are processed in the background',
          tags,
          consumes: ['multipart/form-data'],
          params: InProject,
          response: { 200: envelope(UploadedDocuments) },
        },
      },
      async (request) => {
        const { user, params } = request
        const project = await requireProject(projects, user.id, params.id, 'change')
        const items: Document[] = []
        await receiveUpload(request, uploadSlots, async (read) => {
          for await (const part of read()) {
            if (part.type !== 'file') continue
            const document = await knowledge.add(
              { userId: project.userId, projectId: params.id },
              {
                name: part.filename,
                mime: part.mimetype,
                content: part.file,
                isCut: () => part.file.truncated,
              },
            )
            items.push(presentDocument(document))
          }
        })
        if (items.length === 0) throw appError('files_missing')
        return success({ items })
      },
    )
  })
}

/** The route that makes files of the project searchable. */
function registerSearchableFiles(
  app: App,
  { knowledge, store: { projects } }: Pick<DocumentServices, 'knowledge' | 'store'>,
): void {
  app.post(
    '/api/projects/:id/searchable-files',
    {
      schema: {
        summary: 'Make a file of the project searchable',
        description:
          'The file becomes a document, which follows it when it is changed, renamed or deleted. Deleting the document makes the file not searchable again.',
        tags,
        params: InProject,
        body: SearchableFileBody,
        response: { 200: envelope(Document) },
      },
    },
    async ({ user, params, body }) => {
      const project = await requireProject(projects, user.id, params.id, 'change')
      const path = parsePath(body.path).text
      const target = { userId: project.userId, projectId: params.id }
      return success(presentDocument(await knowledge.addFile(target, path)))
    },
  )
}

/** @throws AppError `document_not_found`. */
async function getDocument(
  knowledge: Knowledge,
  projectId: ProjectId,
  id: string,
): Promise<DocumentRow> {
  const document = await knowledge.find(projectId, id)
  if (document === undefined) throw appError('document_not_found')
  return document
}

/** A document as responses contain it. */
export const presentDocument = (row: DocumentRow): Document => ({
  id: row.id,
  name: row.name,
  size: row.size,
  status: row.status,
  error: row.error,
  reason: row.failure?.reason ?? null,
  params: row.failure?.params ?? null,
  passages: row.passages,
  encoding: row.encoding,
  path: row.path,
  created_at: row.createdAt.toISOString(),
})
