// Blobs as objects of an S3-compatible service: `<prefix><sha256>` in one bucket.

import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'
import { type S3mini, S3ServiceError } from 's3mini'
import { AppError, appError } from '../errors.ts'
import { ensureProcessFolder } from '../lib/process-folder.ts'
import { SOLE_WORKER, type WorkClaims } from '../lib/work-claims.ts'
import type { Blob, BlobStore, ByteRange } from './blobs.ts'
import { openIncoming } from './incoming.ts'
import {
  checkBucket,
  createS3Client,
  objectsBelow,
  type S3Settings,
  webStreamOf,
} from './s3-client.ts'

// Prevents storing and removing the same content at the same time, also across instances of a store.

/** Storing and removing one content never overlap. */
interface BlobTurns {
  /**
   * Runs `work` while nobody else stores or removes this content. Before each step that must not overlap with another turn,
   * `work` checks `hasTurn`: after a long pause of this process, another turn may have begun.
   * @throws AppError `server_busy` if another instance does not end its turn in time.
   */
  run<T>(sha256: string, work: (hasTurn: () => Promise<boolean>) => Promise<T>): Promise<T>
}

/** Longer than any request to the service may take. */
const MAX_WAIT_MS = 150_000
/** Between two checks whether another instance has ended its turn. */
const LOOK_MS = { first: 20, longest: 500 }

/** @param claims the claims of this instance, if there are several. */
function createBlobTurns(
  claims: Pick<WorkClaims, 'claim' | 'finish' | 'holds' | 'isShared'>,
): BlobTurns {
  const here = new Map<string, LimitFunction>()

  async function claim(name: string): Promise<void> {
    const until = performance.now() + MAX_WAIT_MS
    for (let wait = LOOK_MS.first; ; wait = Math.min(wait * 2, LOOK_MS.longest)) {
      if (await claims.claim(name)) return
      if (performance.now() > until) throw appError('uploads_busy', {}, { retryable: true })
      await pause(wait * (0.5 + Math.random() / 2))
    }
  }

  return {
    async run(sha256, work) {
      const turns = here.get(sha256) ?? pLimit(1)
      here.set(sha256, turns)
      try {
        return await turns(async () => {
          if (!claims.isShared) return await work(async () => true)
          const name = `blob:${sha256}`
          await claim(name)
          try {
            return await work(() => claims.holds(name))
          } finally {
            await claims.finish(name)
          }
        })
      } finally {
        if (turns.activeCount + turns.pendingCount === 0) here.delete(sha256)
      }
    },
  }
}

const SHA256 = /^[0-9a-f]{64}$/
/** Between the prefix and the name of an object that nothing refers to, until it is removed for good. */
const TRASH = 'trash/'
/** Which instance puts or removes a content. */
type BlobClaims = Pick<WorkClaims, 'claim' | 'finish' | 'holds' | 'isShared'>

/** Contents of files in an S3 bucket. Every method throws AppError `blobs_unavailable` if the service fails. */
export interface S3Blobs extends BlobStore {
  /** Whether a content is stored, also in the trash. */
  has(sha256: string): Promise<boolean>
  /** Reads a little. Returns why that does not work, for the operator; null if it does. */
  check(): Promise<string | null>
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

/** A bucket and how it is reached. */
interface BucketState {
  readonly incoming: string
  readonly bucket: S3Settings['bucket']
  readonly prefix: S3Settings['prefix']
  readonly client: S3mini
  readonly turns: BlobTurns
}

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
  const { bucket, prefix } = settings
  const client = createS3Client(settings)
  const turns = createBlobTurns(claims)
  const s3: BucketState = {
    incoming,
    bucket,
    prefix,
    client,
    turns,
  }
  return {
    store: (content) => store(s3, content),

    open: (sha256, range) => open(s3, sha256, range),

    async has(sha256) {
      const keys = [keyOf(s3, sha256), trashKeyOf(s3, sha256)]
      return await ask(async () => {
        for (const key of keys) if ((await s3.client.objectExists(key)) === true) return true
        return false
      })
    },

    check: () => checkBucket(client, prefix),

    list: () => named(listed(s3, s3.prefix)),

    discard: (sha256, storedBefore) => discard(s3, sha256, storedBefore),

    async *trash() {
      for await (const { sha256, storedAt } of named(listed(s3, `${s3.prefix}${TRASH}`)))
        yield { sha256, discardedAt: storedAt }
    },

    restore: (sha256) => restore(s3, sha256),

    async removeDiscarded(sha256) {
      await ask(() => s3.client.deleteObject(trashKeyOf(s3, sha256)))
    },

    readNote: (name) => ask(async () => (await s3.client.getObject(s3.prefix + name)) ?? null),

    async writeNote(name, text) {
      await ask(() => s3.client.putObject(s3.prefix + name, text, 'text/plain'))
    },
  }
}

/** Performs work with the service. @throws AppError `blobs_unavailable`. */
async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw unavailable(error)
  }
}

const inTurn = <T>(
  s3: BucketState,
  sha256: string,
  work: (hasTurn: () => Promise<boolean>) => Promise<T>,
): Promise<T> => s3.turns.run(sha256, (hasTurn) => ask(() => work(hasTurn)))

function keyOf(s3: BucketState, sha256: string): string {
  if (!SHA256.test(sha256)) throw new Error('This is no SHA-256.')
  return s3.prefix + sha256
}

function trashKeyOf(s3: BucketState, sha256: string): string {
  keyOf(s3, sha256)
  return `${s3.prefix}${TRASH}${sha256}`
}

/** When an object was last stored; null if there is none. */
async function storedAt(s3: BucketState, sha256: string): Promise<Date | null> {
  const response = await s3.client.getObjectResponse(keyOf(s3, sha256))
  await response?.body?.cancel()
  const time = response?.headers.get('last-modified')
  return time == null ? null : new Date(time)
}

/** Copies inside the service. @throws when the copy is not complete: some services answer before they have tried. */
async function copy(s3: BucketState, from: string, to: string): Promise<void> {
  const source = `/${s3.bucket}/${from.split('/').map(encodeURIComponent).join('/')}`
  await s3.client.putObject(to, '', undefined, undefined, { 'x-amz-copy-source': source }, 0)
  if ((await s3.client.getContentLength(to)) !== (await s3.client.getContentLength(from)))
    throw new Error(`The service has not copied ${from}.`)
}

async function* listed(s3: BucketState, start: string): AsyncGenerator<Blob & { storedAt: Date }> {
  for await (const { name, size, storedAt } of objectsBelow(s3.client, start))
    if (SHA256.test(name)) yield { sha256: name, size, storedAt }
}

const restore = (s3: BucketState, sha256: string): Promise<boolean> =>
  inTurn(s3, sha256, async () => {
    if ((await s3.client.objectExists(trashKeyOf(s3, sha256))) !== true) return false
    await copy(s3, trashKeyOf(s3, sha256), keyOf(s3, sha256))
    await s3.client.deleteObject(trashKeyOf(s3, sha256))
    return true
  })

async function store(s3: BucketState, content: AsyncIterable<Uint8Array>): Promise<Blob> {
  const spooled = join(s3.incoming, randomUUID())
  const hash = createHash('sha256')
  let size = 0
  try {
    await ensureProcessFolder(s3.incoming)
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
    await inTurn(s3, sha256, () =>
      s3.client.putObject(
        keyOf(s3, sha256),
        size === 0 ? '' : webStreamOf(createReadStream(spooled)),
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
}

async function open(
  s3: BucketState,
  sha256: string,
  range: ByteRange | undefined,
): Promise<Readable> {
  const { start, end } = range ?? { start: 0, end: undefined }
  const read = () => s3.client.getObjectRaw(keyOf(s3, sha256), range === undefined, start, end)
  try {
    const response = await read().catch(async (error: unknown) => {
      if (isMissing(error) && (await restore(s3, sha256))) return await read()
      throw error
    })
    if (response.body === null) throw new Error('a response without a body')
    return Readable.from(named(response.body), { objectMode: false })
  } catch (error) {
    throw isMissing(error)
      ? appError('file_content_missing', {}, { cause: error })
      : unavailable(error)
  }
}

const discard = (s3: BucketState, sha256: string, storedBefore: Date): Promise<boolean> =>
  inTurn(s3, sha256, async (hasTurn) => {
    const time = await storedAt(s3, sha256)
    // The service counts in seconds, so an object that was stored in the same second stays.
    if (time === null || time.getTime() + 1_000 > storedBefore.getTime()) return false
    await copy(s3, keyOf(s3, sha256), trashKeyOf(s3, sha256))
    if (!(await hasTurn())) return false
    await s3.client.deleteObject(keyOf(s3, sha256))
    return true
  })

/** The store of a server. Leftovers of dead processes in the folder are removed. */
export async function openS3Blobs(
  settings: S3Settings,
  folder: string,
  claims: BlobClaims = SOLE_WORKER,
): Promise<S3Blobs & { incoming: string }> {
  const incoming = await openIncoming(folder)
  return { ...createS3Blobs(settings, incoming, claims), incoming }
}
