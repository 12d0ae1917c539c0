// Routes for files of messages: upload, download (whole, in part, as a thumbnail), delete.

import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FileRow } from '../../db/repositories/projects/files.ts'
import { appError } from '../../errors.ts'
import type { ByteRange } from '../../files/blobs.ts'
import type { FileService, UploadedFile } from '../../files/files.ts'
import type { App } from '../../http/app.ts'
import { byteRangeOf } from '../../http/byte-range.ts'
import { EncodingChoice, FileInfo, FileText } from '../../protocol/conversations/file.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { failureFields } from '../../protocol/failures/stored.ts'
import { FileId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { encodeFileName } from '../../sharing/file-name.ts'
import { deleted, success } from '../envelope.ts'
import { receiveFile } from './receive-upload.ts'

const tags = ['files']
const OneFile = z.object({ id: FileId })
/** The content behind an id never changes. Only the user's own browser may cache it. */
const CACHE = 'private, max-age=86400, immutable'

/** `/api/files`. */
export function registerFileRoutes(
  app: App,
  services: Pick<Services, 'files' | 'knowledge' | 'uploadSlots' | 'bounds'>,
): void {
  registerUpload(app, services)
  registerOne(app, services)
}

/** Uploads files. */
function registerUpload(
  app: App,
  { files, uploadSlots, bounds }: Pick<Services, 'files' | 'uploadSlots' | 'bounds'>,
): void {
  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: { fileSize: bounds.attachment, files: 1, fields: 20, fieldSize: 10_000, parts: 21 },
      throwFileSizeLimit: false,
    })
    scope.post(
      '/api/files',
      {
        config: { oneFile: true },
        schema: {
          summary: 'Upload a file for a message (multipart: `file`)',
          description:
            'Removes the metadata of images and scales them to at most 4,096 pixels per side; extracts the text of documents. Recordings (WebM, Ogg, MP4, MP3, WAV, FLAC) are stored for people; models are told that they cannot hear them. Removes a file after a day if no message uses it.',
          tags,
          consumes: ['multipart/form-data'],
          response: { 200: envelope(FileInfo) },
        },
      },
      async (request) =>
        await receiveFile(request, uploadSlots, async (part) => {
          const file = await files.upload(request.user.id, {
            name: part.filename ?? '',
            content: part.file,
            isCut: () => part.file.truncated,
          })
          return success(presentFile(file))
        }),
    )
  })
}

/** Reads and deletes one file. */
function registerOne(app: App, { files, knowledge }: Pick<Services, 'files' | 'knowledge'>): void {
  app.get(
    '/api/files/:id',
    {
      schema: {
        summary: 'Get the content of a file; `?thumb=1` returns the thumbnail of an image (WebP)',
        description:
          'Supports `Range` and `If-None-Match`. The image of a project can be read by all of its members.',
        tags,
        params: OneFile,
        querystring: z.object({
          thumb: z
            .enum(['0', '1', 'true', 'false'])
            .optional()
            .describe('Whether to return the thumbnail of an image. Default: `0`.'),
        }),
      },
    },
    async ({ user, params, query, headers }, reply) => {
      const file =
        (await files.find(user.id, params.id)) ?? (await files.findIcon(user.id, params.id))
      if (file === undefined) throw appError('file_id_unknown')
      if (query.thumb !== '1' && query.thumb !== 'true')
        return sendContent(files, file, headers, reply)
      if (file.thumbnailSha256 !== null) return sendThumbnail(files, file, headers, reply)
      // Images from before thumbnails existed are sent unchanged.
      if (file.kind !== 'image') throw appError('file_thumbnail_missing', { name: file.name })
      return sendContent(files, file, headers, reply)
    },
  )

  app.get(
    '/api/files/:id/text',
    {
      schema: {
        summary: 'Get the text of a file as models and the search read it',
        description: 'Each page of a PDF, slide or sheet starts with a line such as `[Page 7]`.',
        tags,
        params: OneFile,
        response: { 200: envelope(FileText) },
      },
    },
    async ({ user, params }) => {
      const found = await files.text(user.id, params.id)
      if (found === undefined) throw appError('file_id_unknown')
      return success(found)
    },
  )

  app.patch(
    '/api/files/:id',
    {
      schema: {
        summary: 'Read a text file in another encoding',
        description:
          'For a text whose encoding was taken for another one. Models and the search read the new text from then on, also where messages already have the file, and documents of projects that were made from it are read again. The bytes of the file stay as they are.',
        tags,
        params: OneFile,
        body: EncodingChoice,
        response: { 200: envelope(FileInfo) },
      },
    },
    async ({ user, params, body }) => {
      const file = await files.readAs(user.id, params.id, body.encoding)
      if (file.encoding !== null) await knowledge.readFileAs(user.id, file.sha256, file.encoding)
      return success(presentFile(file))
    },
  )

  app.delete(
    '/api/files/:id',
    {
      schema: {
        summary: 'Delete a file that no message uses',
        tags,
        params: OneFile,
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      const outcome = await files.remove(user.id, params.id)
      if (outcome === 'missing') throw appError('file_id_unknown')
      if (outcome === 'used') throw appError('file_used')
      return deleted
    },
  )
}

type Headers = FastifyRequest['headers']

/** Headers for users' content: the browser displays images and text, and downloads everything else. Nothing is executed. */
export function contentHeaders(file: Pick<FileRow, 'kind' | 'mime' | 'name'>) {
  const isShown = file.kind === 'image' || file.mime === 'text/plain'
  return {
    'content-type': file.mime === 'text/plain' ? 'text/plain; charset=utf-8' : file.mime,
    'content-disposition': `${isShown ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeFileName(file.name)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  }
}

async function sendThumbnail(
  files: FileService,
  file: FileRow,
  headers: Headers,
  reply: FastifyReply,
): Promise<unknown> {
  void reply.headers({
    ...contentHeaders({ ...file, mime: 'image/webp' }),
    ...validators(file.thumbnailSha256 ?? ''),
  })
  if (isKnown(headers, file.thumbnailSha256 ?? '')) return reply.code(304).send()
  return reply.send(await files.openThumbnail(file))
}

async function sendContent(
  files: FileService,
  file: FileRow,
  headers: Headers,
  reply: FastifyReply,
): Promise<unknown> {
  void reply.headers({
    ...contentHeaders(file),
    ...validators(file.sha256),
    'accept-ranges': 'bytes',
  })
  if (isKnown(headers, file.sha256)) return reply.code(304).send()
  // A range of other content would be useless, so the whole content is sent.
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag(file.sha256)
  const range = isSame ? byteRangeOf(headers.range, file.size) : 'whole'
  if (range === 'unsatisfiable')
    return reply.code(416).header('content-range', `bytes */${file.size}`).send()
  const part: ByteRange = range === 'whole' ? { start: 0, end: file.size } : range
  void reply.header('content-length', part.end - part.start)
  if (range !== 'whole')
    void reply.code(206).header('content-range', `bytes ${part.start}-${part.end - 1}/${file.size}`)
  return reply.send(await files.open(file, range === 'whole' ? undefined : range))
}

const etag = (sha256: string): string => `"${sha256}"`

const validators = (sha256: string) => ({
  etag: etag(sha256),
  'cache-control': CACHE,
  // After a sign-in as another user, the browser must request it again.
  vary: 'Authorization',
})

const isKnown = (headers: Headers, sha256: string): boolean =>
  (headers['if-none-match'] ?? '')
    .split(',')
    .some((tag) => tag.trim().replace(/^W\//, '') === etag(sha256))

/** The wire format of a file. */
export const presentFile = (file: FileRow & Partial<UploadedFile>): FileInfo => ({
  id: file.id,
  name: file.name,
  mime: file.mime,
  size: file.size,
  sha256: file.sha256,
  ...(file.width === null ? {} : { width: file.width }),
  ...(file.height === null ? {} : { height: file.height }),
  ...(file.pages === null ? {} : { pages: file.pages }),
  ...(file.characters === null ? {} : { characters: file.characters }),
  ...(file.encoding == null ? {} : { encoding: file.encoding }),
  ...failureFields(file.failure),
  created_at: file.createdAt.toISOString(),
})
