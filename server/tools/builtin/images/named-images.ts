// The images that a model can name for `generate_image`, and the store for its results.
import { Readable } from 'node:stream'
import { appError } from '../../../errors.ts'
import { type ConversationId, FileId, type UserId } from '../../../protocol/ids.ts'
import type { ReadProjectFiles } from '../../project-files.ts'
import { projectOf } from '../files/project-access.ts'
import { type GenerateImageDependencies, NEWEST_IMAGE, type StoredImage } from './generate-image.ts'

/** Where images are found and stored. */
export interface ImageSources {
  /** The user's files. */
  files: {
    find(
      userId: UserId,
      id: FileId,
    ): Promise<{ kind: string; name: string; mime: string; sha256: string } | undefined>
    read(sha256: string): Promise<Uint8Array>
    upload(
      userId: UserId,
      file: { name: string; content: Readable; isCut(): boolean },
    ): Promise<Omit<StoredImage, 'read'> & { sha256: string }>
  }
  /** The image attached to a conversation under this name; without a name, the newest. */
  findAttached(conversation: ConversationId, name: string | undefined): Promise<FileId | undefined>
  readFiles: ReadProjectFiles
  /** The type of an image by its first bytes; null if it is none. */
  imageType(bytes: Buffer): string | null
}

const MAX_INPUT_BYTES = 50_000_000

/** Finds images among the files of a conversation, of the user and of the project, and stores new ones as the user's files. */
export function createNamedImages({
  files,
  findAttached,
  readFiles,
  imageType,
}: ImageSources): Pick<GenerateImageDependencies, 'findImage' | 'store'> {
  return {
    async findImage(context, reference) {
      const { userId, conversationId, signal } = context
      const id = FileId.safeParse(reference)
      const byName =
        conversationId === null
          ? undefined
          : await findAttached(conversationId, reference === NEWEST_IMAGE ? undefined : reference)
      const fileId = byName ?? (id.success ? id.data : undefined)
      const file = fileId === undefined ? undefined : await files.find(userId, fileId)
      if (file?.kind === 'image')
        return { name: file.name, mime: file.mime, bytes: await files.read(file.sha256) }
      const projectId = await projectOf(context)
      if (projectId === null) return null
      const found = await readFiles(
        { userId, projectId },
        [reference],
        { maxFiles: 1, maxBytes: MAX_INPUT_BYTES },
        signal,
      )
      const [image] = found.files
      const mime = image === undefined ? null : imageType(Buffer.from(image.content))
      return image === undefined || mime === null
        ? null
        : { name: image.path.split('/').at(-1) ?? '', mime, bytes: image.content }
    },

    async store(userId, name, bytes) {
      const mime = imageType(Buffer.from(bytes))
      if (mime === null) throw appError('image_unreadable', { name })
      const file = await files.upload(userId, {
        name: `${name}.${ENDINGS[mime] ?? mime.slice('image/'.length)}`,
        content: Readable.from([bytes]),
        isCut: () => false,
      })
      return { ...file, read: () => files.read(file.sha256) }
    },
  }
}

const ENDINGS: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg' }
