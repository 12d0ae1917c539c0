// Blobs as objects of an S3-compatible service: `<prefix><sha256>` in one bucket.
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { S3mini, S3ServiceError } from 's3mini'
import { z } from 'zod'
import { AppError, appError, errorText } from '../errors.ts'
import { CERTIFICATE_FAULT_TEXTS, certificateFault } from '../lib/certificate-faults.ts'
import { ensureProcessFolder } from '../lib/process-folder.ts'
import { SOLE_WORKER, type WorkClaims } from '../lib/work-claims.ts'
import { createBlobTurns } from './blob-turns.ts'
import type { Blob, BlobStore } from './blobs.ts'
import { openIncoming } from './incoming.ts'

/** An S3 bucket. */
export interface S3Settings {
  /** The URL of the service, without the bucket. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** The prefix of all object names. */
  prefix: string
}

const SHA256 = /^[0-9a-f]{64}$/
/** Between the prefix and the name of an object that nothing refers to, until it is removed for good. */
const TRASH = 'trash/'
const LISTED_AT_ONCE = 1_000
const REQUEST_TIMEOUT_MS = 120_000
/** Node's and the DOM's types of a web stream differ only in name. */
const WebStream = z.instanceof(ReadableStream)

/** Until the service begins to answer a request without a body. */
const ANSWER_TIMEOUT_MS = 15_000

/** A body that is a stream needs to say that nothing is read before it is sent. */
const streamingFetch: typeof fetch = async (input, init) => {
  if (init?.method !== 'GET' && init?.method !== 'HEAD')
    return await fetch(input, { ...init, duplex: 'half' })
  const silence = new AbortController()
  const timer = setTimeout(
    () => silence.abort(new Error('timeout: the service did not answer')),
    ANSWER_TIMEOUT_MS,
  )
  const signals = init.signal == null ? [silence.signal] : [silence.signal, init.signal]
  try {
    return await fetch(input, { ...init, signal: AbortSignal.any(signals) })
  } finally {
    clearTimeout(timer)
  }
}

/** Which instance puts or removes a content. */
type BlobClaims = Pick<WorkClaims, 'claim' | 'finish' | 'holds' | 'isShared'>

/** Contents of files in an S3 bucket. Every method throws AppError `blobs_unavailable` if the service fails. */
export interface S3Blobs extends BlobStore {
  /** Whether a content is stored, also in the trash. */
  has(sha256: string): Promise<boolean>
  /** Reads a little. Returns why that does not work, for the operator; null if it does. */
  check(): Promise<string | null>
}

/** What the service answered, or that it did not, for the operator. Never contains a key. */
export function s3Cause(error: unknown): string {
  const certificate = certificateFault(error)
  if (certificate !== null) return `its certificate ${CERTIFICATE_FAULT_TEXTS[certificate]}`
  const text = causesOf(error).map(String).join(' ')
  if (/NoSuchBucket/.test(text)) return 'there is no such bucket'
  if (/InvalidAccessKeyId|SignatureDoesNotMatch|\b40[13]\b|AccessDenied/.test(text))
    return 'it does not accept the key, or the key has no access to the bucket'
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return 'its host name could not be found'
  if (/ECONNREFUSED/.test(text)) return 'it refused the connection'
  if (/ETIMEDOUT|TIMEOUT|timeout/.test(text)) return 'it did not respond in time'
  return `it does not respond as expected (${errorText(error).slice(0, 200)})`
}

const MAX_CAUSES = 5

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause != null && causes.length < MAX_CAUSES; ) {
    causes.push(cause)
    if (cause instanceof Error && 'code' in cause) causes.push(cause.code)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return causes
}

const unavailable = (error: unknown): unknown =>
  error instanceof AppError
    ? error
    : appError('blobs_unavailable', {}, { retryable: true, retryAfter: 5, cause: error })

/** Names a failure of the service, also in the middle of a list. */
async function* named<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items
  } catch (error) {
    throw unavailable(error)
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceError && error.status === 404

/**
 * Reads and writes contents. A content is spooled to the folder `incoming` because its name is known only at its end; an
 * object becomes visible whole. Storing and removing a content exclude each other on all instances, because the service
 * cannot remove an object only if nobody has stored it since.
 * @param claims the claims of this instance, if there are several.
 */
export function createS3Blobs(
  settings: S3Settings,
  incoming: string,
  claims: BlobClaims = SOLE_WORKER,
): S3Blobs {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey, prefix } = settings
  const client = new S3mini({
    endpoint: `${endpoint.replace(/\/+$/, '')}/${bucket}`,
    region,
    accessKeyId,
    secretAccessKey,
    requestAbortTimeout: REQUEST_TIMEOUT_MS,
    fetch: streamingFetch,
  })
  const turns = createBlobTurns(claims)
  /** Performs work with the service. @throws AppError `blobs_unavailable`. */
  const ask = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw unavailable(error)
    }
  }
  const inTurn: typeof turns.run = (sha256, work) =>
    turns.run(sha256, (hasTurn) => ask(() => work(hasTurn)))
  const keyOf = (sha256: string): string => {
    if (!SHA256.test(sha256)) throw new Error('This is no SHA-256.')
    return prefix + sha256
  }
  const trashKeyOf = (sha256: string): string => {
    keyOf(sha256)
    return `${prefix}${TRASH}${sha256}`
  }
  /** When an object was last stored; null if there is none. */
  async function storedAt(sha256: string): Promise<Date | null> {
    const response = await client.getObjectResponse(keyOf(sha256))
    await response?.body?.cancel()
    const time = response?.headers.get('last-modified')
    return time == null ? null : new Date(time)
  }

  /** Copies inside the service. @throws when the copy is not complete: some services answer before they have tried. */
  async function copy(from: string, to: string): Promise<void> {
    const source = `/${bucket}/${from.split('/').map(encodeURIComponent).join('/')}`
    await client.putObject(to, '', undefined, undefined, { 'x-amz-copy-source': source }, 0)
    if ((await client.getContentLength(to)) !== (await client.getContentLength(from)))
      throw new Error(`The service has not copied ${from}.`)
  }
  async function* listed(start: string): AsyncGenerator<Blob & { storedAt: Date }> {
    let token: string | undefined
    do {
      const page = await client.listObjectsPaged('/', start, LISTED_AT_ONCE, token)
      for (const { Key, Size, LastModified } of page?.objects ?? []) {
        const sha256 = Key.slice(start.length)
        if (SHA256.test(sha256)) yield { sha256, size: Size, storedAt: LastModified }
      }
      token = page?.nextContinuationToken
    } while (token !== undefined && token !== '')
  }
  const restore = (sha256: string): Promise<boolean> =>
    inTurn(sha256, async () => {
      if ((await client.objectExists(trashKeyOf(sha256))) !== true) return false
      await copy(trashKeyOf(sha256), keyOf(sha256))
      await client.deleteObject(trashKeyOf(sha256))
      return true
    })

  return {
    async put(content) {
      const spooled = join(incoming, randomUUID())
      const hash = createHash('sha256')
      let size = 0
      try {
        await ensureProcessFolder(incoming)
        await pipeline(
          content,
          async function* (chunks: AsyncIterable<Uint8Array>) {
            for await (const chunk of chunks) {
              hash.update(chunk)
              size += chunk.length
              yield chunk
            }
          },
          createWriteStream(spooled, { mode: 0o600 }),
        )
        const sha256 = hash.digest('hex')
        await inTurn(sha256, () =>
          client.putObject(
            keyOf(sha256),
            size === 0 ? '' : WebStream.parse(Readable.toWeb(createReadStream(spooled))),
            'application/octet-stream',
            undefined,
            undefined,
            size,
          ),
        )
        return { sha256, size }
      } finally {
        await rm(spooled, { force: true })
      }
    },

    async open(sha256, range) {
      const { start, end } = range ?? { start: 0, end: undefined }
      const read = () => client.getObjectRaw(keyOf(sha256), range === undefined, start, end)
      try {
        const response = await read().catch(async (error: unknown) => {
          if (isMissing(error) && (await restore(sha256))) return await read()
          throw error
        })
        if (response.body === null) throw new Error('a response without a body')
        return Readable.from(named(response.body), { objectMode: false })
      } catch (error) {
        throw isMissing(error)
          ? appError('file_content_missing', {}, { cause: error })
          : unavailable(error)
      }
    },

    async has(sha256) {
      const keys = [keyOf(sha256), trashKeyOf(sha256)]
      return await ask(async () => {
        for (const key of keys) if ((await client.objectExists(key)) === true) return true
        return false
      })
    },

    async check() {
      try {
        // Each finds what the other one does not: a wrong key, a bucket that does not exist.
        await client.objectExists(keyOf('0'.repeat(64)))
        const listed = await client.listObjectsPaged('/', prefix, LISTED_AT_ONCE)
        return listed == null ? 'there is no such bucket' : null
      } catch (error) {
        return s3Cause(error)
      }
    },

    list: () => named(listed(prefix)),

    discard: (sha256, putBefore) =>
      inTurn(sha256, async (hasTurn) => {
        const time = await storedAt(sha256)
        // The service counts in seconds, so an object that was stored in the same second stays.
        if (time === null || time.getTime() + 1_000 > putBefore.getTime()) return false
        await copy(keyOf(sha256), trashKeyOf(sha256))
        if (!(await hasTurn())) return false
        await client.deleteObject(keyOf(sha256))
        return true
      }),

    async *trash() {
      for await (const { sha256, storedAt } of named(listed(`${prefix}${TRASH}`)))
        yield { sha256, discardedAt: storedAt }
    },

    restore,

    async removeDiscarded(sha256) {
      await ask(() => client.deleteObject(trashKeyOf(sha256)))
    },

    readNote: (name) => ask(async () => (await client.getObject(prefix + name)) ?? null),

    async writeNote(name, text) {
      await ask(() => client.putObject(prefix + name, text, 'text/plain'))
    },
  }
}

/** The store of a server. Leftovers of dead processes in the folder are removed. */
export async function openS3Blobs(
  settings: S3Settings,
  folder: string,
  claims: BlobClaims = SOLE_WORKER,
): Promise<S3Blobs & { incoming: string }> {
  const incoming = await openIncoming(folder)
  return { ...createS3Blobs(settings, incoming, claims), incoming }
}
