// Files of users: receives an upload, detects its type, stores its bytes as a blob and its properties as a row.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import type { Database, Writer } from '../db/database.ts'
import type { FileRepository, FileRow } from '../db/repositories/projects/files.ts'
import { ROW_BYTES } from '../db/repositories/projects/storage.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { boundedText } from '../knowledge/document-text.ts'
import { extractText } from '../knowledge/extract.ts'
import { AUDIO_MIMES } from '../lib/audio-type.ts'
import { decodeText, encodingNamed, UTF_8 } from '../lib/encodings.ts'
import { createFairQueue, type FairQueue } from '../lib/fair-queue.ts'
import { newId } from '../lib/ids.ts'
import { ensureProcessFolder } from '../lib/process-folder.ts'
import type { Attachment } from '../protocol/conversations/message.ts'
import { isRecording } from '../protocol/conversations/recording.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { FileId, UserId } from '../protocol/ids.ts'
import type { BlobStore, ByteRange } from './blobs.ts'
import { thumbnailOf } from './image-result.ts'
import { readImage } from './images.ts'
import { hasPictures } from './picture-tracks.ts'
import { ARCHIVE_LIST_BYTES, officeType, SNIFFED_BYTES, sniff } from './sniff.ts'

/** Maximum number of images and documents that child processes read at once. A slow document does not delay images. */
const MAX_CONCURRENT_IMAGES = 3
const MAX_CONCURRENT_DOCUMENTS = 3
/** Of one user, so that there is always room for another. */
const MAX_OF_ONE_USER = 2
const DOCUMENT_TIMEOUT_MS = 30_000
const SHORT_TEXT_BYTES = 256 * 1024
const MAX_NAME_CHARACTERS = 255

type StoredFile = Parameters<FileRepository['insert']>[1]
/** The detected properties of a file, and the paths of what to store. */
type Examined = Pick<
  StoredFile,
  'kind' | 'mime' | 'width' | 'height' | 'pages' | 'failure' | 'characters' | 'text' | 'encoding'
> & { content: string; thumbnail: string | null }

/** A file with the encoding in which its text was read. */
export type UploadedFile = FileRow & Pick<StoredFile, 'encoding'>

/** The files that users upload for messages. */
export interface FileService {
  /**
   * Stores an uploaded file. The stream is read to its end. A recording is stored for people: no model hears it.
   * @throws AppError `file_upload_too_large`, `file_type_unsupported`, `image_unreadable`, or the quota's refusal.
   */
  upload(
    userId: UserId,
    file: { name: string; content: Readable; isCut(): boolean },
  ): Promise<UploadedFile>
  /**
   * Stores a file that a program sends inside a request, unless the user has one with this name and content: programs send the
   * same files with each request of a conversation.
   * @param file.unheard why nothing is known of what is said, if the file is a recording. Without it, recordings are refused:
   * a program sends one for a model to hear.
   * @returns its id, and whether it was stored now.
   * @throws AppError as `upload`.
   */
  uploadOnce(
    userId: UserId,
    file: { name: string; bytes: Buffer; unheard?: DescribedFailure },
  ): Promise<{ id: FileId; isNew: boolean }>
  /**
   * Reads a text again in the encoding that a person has chosen, also where it is already part of messages.
   * @throws AppError `file_id_unknown`, `encoding_unknown`, or `binary_file` for a file that is no text.
   */
  readAs(userId: UserId, id: FileId, encoding: string): Promise<UploadedFile>
  /**
   * Stores an attachment that came inside a message. Its type was checked; an image that cannot be decoded is stored as it
   * is, without a thumbnail.
   * @throws AppError the quota's refusal.
   */
  addInline(userId: UserId, attachment: Attachment): Promise<FileRow>
  /**
   * Stores the blobs of an attachment as `addInline` does, whatever the quota says; `insert` stores the row in the caller's
   * transaction, which must follow at once.
   */
  prepareInline(
    userId: UserId,
    attachment: Attachment,
  ): Promise<{ row: FileRow; insert(tx: Writer): Promise<void> }>
  find: FileRepository['find']
  findIcon: FileRepository['findIcon']
  /** The text that was extracted from a file. */
  text: FileRepository['text']
  encoding: FileRepository['encoding']
  /** Those of the files that belong to the user, in any order. */
  findAll: FileRepository['findAll']
  /** The whole content of a file in memory, such as an image for a model. */
  read(sha256: string): Promise<Buffer>
  /** The bytes of a file, or of a part of it. @throws AppError `file_content_missing`. */
  open(file: FileRow, range?: ByteRange): Promise<Readable>
  /** The thumbnail of an image; null when it has none. */
  openThumbnail(file: FileRow): Promise<Readable | null>
  remove: FileRepository['remove']
}

/** The dependencies of the service for uploaded files. */
export interface FileServiceOptions {
  database: Pick<Database, 'write'>
  files: FileRepository
  /** Indexes the new text of a file for the search. */
  searchIndex: Pick<Store['search']['index'], 'indexChangedFile'>
  blobs: BlobStore
  /** A folder for uploads in progress. Leftovers in it are removed. */
  incoming: string
  /** Maximum bytes of one file. */
  maxBytes: number
  /** Each user's storage: a claim throws `quota_claim_refused`, and holds until the row is stored. */
  storage: {
    claim(userId: UserId, holder: string, bytes: number): Promise<void>
    release(holder: string): void
  }
  log: { warn(details: object, message: string): void }
}

type Service = FileServiceOptions & { images: FairQueue; readers: FairQueue }

/** Uploads are received into `incoming` first, so that the store never refers to an incomplete file. */
export function createFileService(options: FileServiceOptions): FileService {
  const { database, files, searchIndex, blobs, maxBytes } = options
  const images = createFairQueue({ size: MAX_CONCURRENT_IMAGES, perOwner: MAX_OF_ONE_USER })
  const readers = createFairQueue({ size: MAX_CONCURRENT_DOCUMENTS, perOwner: MAX_OF_ONE_USER })
  const service: Service = { ...options, images, readers }

  return {
    find: files.find,
    findIcon: files.findIcon,
    text: files.text,
    encoding: files.encoding,
    findAll: files.findAll,
    remove: files.remove,
    read: async (sha256) => buffer(await blobs.open(sha256)),
    open: (file, range) => blobs.open(file.sha256, range),
    openThumbnail: async ({ thumbnailSha256 }) =>
      thumbnailSha256 === null ? null : blobs.open(thumbnailSha256),

    async upload(userId, file) {
      const id = newId<FileId>()
      const name = cleanName(file.name)
      return await inFolder(service, id, async (path) => {
        await pipeline(file.content, createWriteStream(path, { mode: 0o600 }))
        if (file.isCut()) throw appError('file_upload_too_large', { limit: megabytes(maxBytes) })
        const unheard = storedFailure('recording_unheard')
        const found = await examine(service, userId, { path, name, unheard })
        return await store(service, userId, id, name, found)
      })
    },

    async uploadOnce(userId, { name: sentName, bytes, unheard }) {
      const id = newId<FileId>()
      const name = cleanName(sentName)
      const same = async (content: AsyncIterable<Uint8Array>) => {
        const found = await files.findSame(userId, { name, sha256: await sha256Of(content) })
        const isOther = isRecording(found?.mime ?? '') && found?.failure?.reason !== unheard?.reason
        return isOther ? undefined : found
      }
      const sent = await same(piecesOf(bytes))
      if (sent !== undefined) return { id: sent.id, isNew: false }
      if (bytes.length > maxBytes)
        throw appError('file_upload_too_large', { limit: megabytes(maxBytes) })
      return await inFolder(service, id, async (path) => {
        await pipeline(Readable.from([bytes]), createWriteStream(path, { mode: 0o600 }))
        const found = await examine(service, userId, { path, name, unheard })
        // An image may be stored with other bytes than it was sent with.
        const stored =
          found.content === path ? undefined : await same(createReadStream(found.content))
        if (stored !== undefined) return { id: stored.id, isNew: false }
        await store(service, userId, id, name, found)
        return { id, isNew: true }
      })
    },

    async readAs(userId, id, label) {
      const encoding = encodingNamed(label)
      if (encoding === null) throw appError('encoding_unknown', { encoding: label.slice(0, 40) })
      const file = await files.find(userId, id)
      if (file === undefined) throw appError('file_id_unknown')
      const { name, mime, size } = file
      const noText = () => appError('binary_file', { path: name, kind: mime, size: `${size} B` })
      if (mime !== 'text/plain') throw noText()
      const found = await readers.run(userId, async () =>
        readText(name, await buffer(await blobs.open(file.sha256)), encoding),
      )
      if (!found.ok)
        throw found.failure.reason === 'document_reading_too_slow'
          ? appError('work_too_slow', { seconds: DOCUMENT_TIMEOUT_MS / 1000 })
          : noText()
      const { text, characters } = found
      const isStored = await database.write(async (tx) => {
        if (!(await files.setText(tx, id, { text, characters, encoding }))) return false
        await searchIndex.indexChangedFile(tx, id)
        return true
      })
      if (!isStored) throw appError('file_id_unknown')
      return { ...file, characters, encoding, failure: null }
    },

    addInline(userId, attachment) {
      const id = newId<FileId>()
      return inFolder(service, id, async (path) =>
        store(
          service,
          userId,
          id,
          attachment.name,
          await examineInline(service, userId, path, attachment),
        ),
      )
    },

    prepareInline(userId, attachment) {
      const id = newId<FileId>()
      return inFolder(service, id, async (path) => {
        const found = await examineInline(service, userId, path, attachment)
        const row = await storeBlobs(service, userId, id, attachment.name, found)
        return { row: withoutText(row), insert: (tx) => files.insert(tx, row) }
      })
    },
  }
}

/** Runs `work` with the path of a new folder, which is removed afterwards. */
async function inFolder<T>(
  { incoming }: Service,
  id: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const folder = join(incoming, id)
  await ensureProcessFolder(incoming)
  await mkdir(folder, { mode: 0o700 })
  try {
    return await work(join(folder, 'file'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function examineImage(
  { images, log }: Service,
  userId: UserId,
  path: string,
): Promise<Examined | null> {
  const output = `${path}.out`
  const image = await images.run(userId, () => readImage(path, output))
  if (!image.ok) {
    log.warn({ cause: image.internal }, 'an image could not be read')
    return null
  }
  return {
    ...nothingKnown,
    kind: 'image',
    mime: image.mime,
    width: image.width,
    height: image.height,
    content: image.replaced ? output : path,
    thumbnail: thumbnailOf(output),
  }
}

/**
 * A text that can be decoded in a millisecond needs no child process. Null for larger texts, for those whose encoding must be
 * found out, and if it is not text after all.
 */
async function examineShortText(path: string): Promise<Examined | null> {
  const { size } = await stat(path)
  const bytes = size > SHORT_TEXT_BYTES ? null : await readFile(path)
  if (bytes === null || bytes.includes(0) || !isUtf8(bytes)) return null
  const decoded = decodeText(bytes)
  if (decoded === null) return null
  const encoding = decoded.encoding.name
  const found = { ...nothingKnown, ...boundedText(decoded.text), encoding }
  return { ...found, kind: 'text', mime: 'text/plain', content: path, thumbnail: null }
}

const readText = (name: string, bytes: Buffer, encoding: string | null = null) =>
  extractText(name, bytes, {
    signal: new AbortController().signal,
    timeoutMs: DOCUMENT_TIMEOUT_MS,
    encoding,
  })

async function examineText(
  { readers, log }: Service,
  userId: UserId,
  { path, name, mime }: { path: string; name: string; mime: string },
): Promise<Examined> {
  const found = await readers.run(userId, async () => readText(name, await readFile(path)))
  const base = { ...nothingKnown, kind: 'text' as const, mime, content: path, thumbnail: null }
  if (found.ok) {
    const { ok: _ok, ...read } = found
    return { ...base, ...read }
  }
  if (found.internal !== undefined)
    log.warn({ cause: found.internal }, 'an attached document could not be read')
  const { failure, pages = null } = found
  return { ...base, ...noText, failure, pages }
}

/** @throws AppError `file_type_unsupported`, `image_unreadable`. */
async function examine(
  service: Service,
  userId: UserId,
  { path, name, unheard }: { path: string; name: string; unheard?: DescribedFailure | undefined },
): Promise<Examined> {
  const type = sniff(await headOf(path))
  if (type.kind === 'image') {
    const image = await examineImage(service, userId, path)
    if (image === null) throw appError('image_unreadable', { name })
    return image
  }
  if (type.kind === 'text')
    return (
      (await examineShortText(path)) ??
      examineText(service, userId, { path, name, mime: type.mime })
    )
  if (type.kind === 'audio') {
    if (unheard === undefined || (await hasPictures(path, type.type)))
      throw appError('file_type_unsupported', { name })
    const mime = AUDIO_MIMES[type.type]
    return { ...noText, kind: 'text', mime, failure: unheard, content: path, thumbnail: null }
  }
  if (type.kind === 'unknown') throw appError('file_type_unsupported', { name })
  const mime = type.mime === 'application/pdf' ? type.mime : officeType(await tailOf(path))
  if (mime === undefined) throw appError('file_type_unsupported', { name })
  return examineText(service, userId, { path, name, mime })
}

async function storeBlobs(
  { blobs }: Service,
  userId: UserId,
  id: FileId,
  name: string,
  { content, thumbnail, ...found }: Examined,
): Promise<StoredFile> {
  const blob = await blobs.store(createReadStream(content))
  const small = thumbnail === null ? null : await blobs.store(createReadStream(thumbnail))
  return {
    ...found,
    id,
    userId,
    name,
    size: blob.size,
    sha256: blob.sha256,
    thumbnailSha256: small?.sha256 ?? null,
    createdAt: new Date(),
  }
}

async function store(
  service: Service,
  userId: UserId,
  id: FileId,
  name: string,
  found: Examined,
): Promise<UploadedFile> {
  const { storage, database, files } = service
  const { size } = await stat(found.content)
  try {
    await storage.claim(userId, id, Math.max(size, ROW_BYTES))
    const row = await storeBlobs(service, userId, id, name, found)
    // Last, because without a row the blobs are garbage.
    await database.write((tx) => files.insert(tx, row))
    return withoutText(row)
  } finally {
    storage.release(id)
  }
}

/** Writes an attachment to `path` and examines it. */
async function examineInline(
  service: Service,
  userId: UserId,
  path: string,
  attachment: Attachment,
): Promise<Examined> {
  if (!('data' in attachment)) {
    const { content } = attachment
    await pipeline(Readable.from([content]), createWriteStream(path, { mode: 0o600 }))
    const found = { ...nothingKnown, ...boundedText(content), encoding: UTF_8.name }
    return { ...found, kind: 'text', mime: 'text/plain', content: path, thumbnail: null }
  }
  const bytes = Buffer.from(attachment.data, 'base64')
  await pipeline(Readable.from([bytes]), createWriteStream(path, { mode: 0o600 }))
  const asItIs = { kind: 'image', mime: attachment.mime, content: path, thumbnail: null } as const
  return (await examineImage(service, userId, path)) ?? { ...nothingKnown, ...asItIs }
}

const withoutText = ({ text: _text, ...row }: StoredFile): UploadedFile => row

const nothingKnown = {
  width: null,
  height: null,
  pages: null,
  failure: null,
  characters: null,
  text: null,
  encoding: null,
} as const

/** What is stored of a file for models and the search if no text was read from it. */
const noText = { ...nothingKnown, text: '', characters: 0 } as const

async function headOf(path: string): Promise<Buffer> {
  const handle = await open(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The end of a file, where a ZIP archive lists its entries. */
async function tailOf(path: string): Promise<Buffer> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, ARCHIVE_LIST_BYTES)
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`

/** Bytes that are hashed per turn of the event loop: about a millisecond. */
const HASHED_BYTES = 1024 * 1024

async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    if (at > 0) await setImmediate()
    yield bytes.subarray(at, at + HASHED_BYTES)
  }
}

async function sha256Of(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of content) hash.update(piece)
  return hash.digest('hex')
}

/** The last part of a path, without control and format characters: a label, never a path. */
export function cleanName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  const clean = last.replaceAll(/\p{C}/gu, '').trim()
  return clean === '' ? 'file' : clean.slice(-MAX_NAME_CHARACTERS)
}
