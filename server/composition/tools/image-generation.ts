// The dependencies of `generate_image`: the configured service, the images that a model can name, and the store for
// results.
import { Readable } from 'node:stream'
import type { Config } from '../../config/schema.ts'
import type { AttachmentRepository } from '../../db/repositories/conversations/attachments.ts'
import { appError } from '../../errors.ts'
import type { FileService } from '../../files/files.ts'
import { sniff } from '../../files/sniff.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import { FileId } from '../../protocol/ids.ts'
import { NEWEST_IMAGE } from '../../tools/builtin/images/generate-image.ts'
import { createImagesApi } from '../../tools/builtin/images/images-api.ts'
import type { BuiltinDependencies } from '../../tools/builtin/index.ts'
import type { ReadProjectFiles } from '../../tools/project-files.ts'

interface Dependencies {
  fetch: GuardedFetch
  files: FileService
  attachments: Pick<AttachmentRepository, 'findImage'>
  readFiles: ReadProjectFiles
}

const MAX_INPUT_BYTES = 50_000_000

/** Null when no service is configured. */
export function imageGeneration(
  { image_generation: settings }: Config,
  { fetch, files, attachments, readFiles }: Dependencies,
): BuiltinDependencies['images'] {
  if (settings === undefined) return null
  const { api_url: apiUrl, api_key: apiKey, model, price = null } = settings
  const timeoutMs = settings.timeout * 1_000
  return {
    generate: createImagesApi({ apiUrl, apiKey, model, timeoutMs }, fetch),
    model,
    price,
    timeoutMs,

    async findImage({ userId, conversationId, projectId, signal }, reference) {
      const id = FileId.safeParse(reference)
      const byName =
        conversationId === null
          ? undefined
          : await attachments.findImage(
              conversationId,
              reference === NEWEST_IMAGE ? undefined : reference,
            )
      const fileId = byName ?? (id.success ? id.data : undefined)
      const file = fileId === undefined ? undefined : await files.find(userId, fileId)
      if (file?.kind === 'image')
        return { name: file.name, mime: file.mime, bytes: await files.read(file.sha256) }
      if (projectId === null) return null
      const found = await readFiles(
        { userId, projectId },
        [reference],
        { maxFiles: 1, maxBytes: MAX_INPUT_BYTES },
        signal,
      )
      const [image] = found.files
      const type = image === undefined ? null : sniff(Buffer.from(image.content))
      return image === undefined || type?.kind !== 'image'
        ? null
        : { name: image.path.split('/').at(-1) ?? '', mime: type.mime, bytes: image.content }
    },

    async store(userId, name, bytes) {
      const type = sniff(Buffer.from(bytes))
      if (type.kind !== 'image') throw appError('image_unreadable', { name })
      const file = await files.upload(userId, {
        name: `${name}.${ENDINGS[type.mime] ?? type.mime.slice('image/'.length)}`,
        content: Readable.from([bytes]),
        isCut: () => false,
      })
      return { ...file, read: () => files.read(file.sha256) }
    },
  }
}

const ENDINGS: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg' }
