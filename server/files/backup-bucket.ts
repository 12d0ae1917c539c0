// Backups in a bucket of an S3-compatible service: each content once, a manifest for each backup.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readFile, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { type S3mini, S3ServiceError } from 's3mini'
import { AppError } from '../errors.ts'
import { makeFolder } from '../lib/make-folder.ts'
import {
  type BackupEntry,
  MANIFEST_NAME,
  parseHeader,
  parseManifest,
  readManifest,
} from './backup-folder.ts'
import {
  checkBucket,
  createS3Client,
  objectsBelow,
  type S3Settings,
  s3Cause,
  webStreamOf,
} from './s3-client.ts'
import { bucketAddress } from './scheduled-backups.ts'

// The names of objects, below the prefix:
//   backups/<installation>-<time>.jsonl     the manifest, written last: without it, there is no backup
//   contents/<installation>/<sha256>        what the manifests refer to
// Contents belong to one installation, so that none can remove what another one is about to refer to.

const MANIFESTS = 'backups/'
const CONTENTS = 'contents/'
const MANIFEST_END = '.jsonl'
const BACKUP_NAME = /^(nanoclaw-[0-9a-f]{8})-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/
const SHA256 = /^[0-9a-f]{64}$/

/** Uploads, downloads and removals at a time. */
const AT_ONCE = 4
/** How often a request is repeated that failed for a reason that may pass, and the first pause before that. */
const TRIES = 4
const FIRST_PAUSE_MS = 500
/** Larger files are sent in parts: services refuse single requests beyond 5 GB. At most 10,000 parts. */
const PART_BYTES = 64 * 1024 ** 2
/** Longer than the first line of any manifest. */
const HEADER_BYTES = 64 * 1024

/** A backup in a bucket. */
export interface BucketBackup {
  name: string
  isComplete: boolean
}

/** A bucket with backups. Its methods throw AppError with a text for the operator. */
export interface BackupBucket {
  /** For the operator: `s3://bucket/prefix`. */
  readonly address: string
  /** Reads a little. Returns why that does not work; null if it does. */
  check(): Promise<string | null>
  /**
   * Copies a backup, sending only contents that the bucket lacks. What an interrupted call has sent is not sent again.
   * @param name `nanoclaw-<installation>-<time>`, as scheduled backups are called.
   */
  put(folder: string, name: string): Promise<{ sent: number }>
  /** All backups, newest first. */
  list(): Promise<BucketBackup[]>
  /** Writes a backup into a new folder, as it was before `put`. Contents that are missing in the bucket are left out. */
  fetch(name: string, folder: string): Promise<void>
  /**
   * Removes all backups of an installation but the newest ones, and contents that none refers to; the newest complete one stays.
   * Must not overlap with `put` for the same installation.
   * @returns the names of those that were removed.
   */
  prune(installation: string, keep: number): Promise<string[]>
}

/** Opens a bucket; sends nothing yet. */
export function createBackupBucket(settings: S3Settings): BackupBucket {
  const parts = bucketParts(settings)
  return {
    ...copies(parts),
    ...backupsInBucket(settings, parts),
  }
}

/** The bucket, and what is in it. */
function bucketParts(settings: S3Settings) {
  const { prefix } = settings
  const client = createS3Client(settings)
  const address = bucketAddress(settings)
  const manifestKey = (name: string) => `${prefix}${MANIFESTS}${name}${MANIFEST_END}`
  const contentsPrefix = (installation: string) => `${prefix}${CONTENTS}${installation}/`

  async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError) throw error
      throw new AppError('conflict', `The bucket ${address} cannot be used: ${s3Cause(error)}.`, {
        cause: error,
      })
    }
  }

  return { client, address, manifestKey, contentsPrefix, ask }
}

type BucketParts = ReturnType<typeof bucketParts>

/** Backups to the bucket and back. */
function copies({
  client,
  address,
  manifestKey,
  contentsPrefix,
  ask,
}: BucketParts): Pick<BackupBucket, 'put' | 'fetch'> {
  const sizes = async (installation: string): Promise<Map<string, number>> => {
    const found = new Map<string, number>()
    for await (const { name, size } of objectsBelow(client, contentsPrefix(installation)))
      found.set(name, size)
    return found
  }

  return {
    put: (folder, name) =>
      ask(async () => {
        const contents = contentsPrefix(installationOf(name))
        const { entries } = await readManifest(folder)
        const files = distinct(entries)
        const stored = await sizes(installationOf(name))
        const limit = pLimit(AT_ONCE)
        let sent = 0
        await limit.map([...files.values()], async ({ path, sha256, size }) => {
          if (stored.get(sha256) === size) return
          await send(client, { key: `${contents}${sha256}`, file: join(folder, path), size })
          sent += 1
        })
        // A service may have answered without storing; another server may have removed something.
        const now = await sizes(installationOf(name))
        for (const { path, sha256, size } of files.values())
          if (now.get(sha256) !== size)
            throw new AppError('conflict', `The bucket ${address} has not stored ${path}.`)
        const manifest = join(folder, MANIFEST_NAME)
        const { length } = await readFile(manifest)
        await send(client, { key: manifestKey(name), file: manifest, size: length })
        return { sent }
      }),

    fetch: (name, folder) =>
      ask(async () => {
        if (!BACKUP_NAME.test(name)) throw notThere(name, address)
        const text = await patiently(() => client.getObject(manifestKey(name)))
        if (text === null) throw notThere(name, address)
        const { entries } = parseManifest(text)
        const files = entries.filter(isFile)
        makeFolder(folder)
        await assertFits(
          folder,
          files.reduce((sum, { size }) => sum + size, 0),
        )
        const contents = contentsPrefix(installationOf(name))
        const limit = pLimit(AT_ONCE)
        await limit.map(files, async ({ path, sha256 }) => {
          const target = join(folder, path)
          await mkdir(dirname(target), { recursive: true, mode: 0o700 })
          await receive(client, `${contents}${sha256}`, { target, sha256 })
        })
        await writeFile(join(folder, MANIFEST_NAME), text, { mode: 0o600, flush: true })
      }),
  }
}

/** Which backups are there. */
function backupsInBucket(
  settings: S3Settings,
  { client, address, manifestKey, contentsPrefix, ask }: BucketParts,
): Pick<BackupBucket, 'address' | 'check' | 'list' | 'prune'> {
  const { prefix } = settings

  const names = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const { name } of objectsBelow(client, `${prefix}${MANIFESTS}`))
      if (name.endsWith(MANIFEST_END) && BACKUP_NAME.test(name.slice(0, -MANIFEST_END.length)))
        found.push(name.slice(0, -MANIFEST_END.length))
    // By time, whichever installation it is of.
    return found.sort((a, b) => (timeOf(b) + a < timeOf(a) + b ? -1 : 1))
  }

  const withHeader = async (name: string): Promise<BucketBackup | null> => {
    const response = await patiently(() =>
      client.getObjectRaw(manifestKey(name), false, 0, HEADER_BYTES),
    )
    const header = parseHeader(await response.text())
    if (header === null) return null
    return { name, isComplete: header.complete ?? header.missing.length === 0 }
  }

  const list = async (): Promise<BucketBackup[]> => {
    const found: BucketBackup[] = []
    for (const name of await names()) {
      const backup = await withHeader(name)
      if (backup !== null) found.push(backup)
    }
    return found
  }

  return {
    address,

    check: () => checkBucket(client, prefix),

    list: () => ask(list),

    prune: (installation, keep) =>
      ask(async () => {
        const own = (await names()).filter((name) => installationOf(name) === installation)
        const removed: string[] = []
        let isSafe = false
        for (const [position, name] of own.entries()) {
          const backup = await withHeader(name)
          const isNewestComplete = !isSafe && backup?.isComplete === true
          if (isNewestComplete) isSafe = true
          if (position < keep || isNewestComplete || backup === null) continue
          await patiently(() => client.deleteObject(manifestKey(name)))
          removed.push(name)
        }
        if (removed.length === 0) return removed
        const used = new Set<string>()
        for (const name of own) {
          if (removed.includes(name)) continue
          const text = await patiently(() => client.getObject(manifestKey(name)))
          const entries = text === null ? null : entriesOf(text)
          // What cannot be read may refer to anything.
          if (entries === null) return removed
          for (const { sha256 } of entries.filter(isFile)) used.add(sha256)
        }
        const unused: string[] = []
        const contents = contentsPrefix(installation)
        for await (const { name } of objectsBelow(client, contents))
          if (SHA256.test(name) && !used.has(name)) unused.push(`${contents}${name}`)
        await pLimit(AT_ONCE).map(unused, (key) => patiently(() => client.deleteObject(key)))
        return removed
      }),
  }
}

/** Null for a damaged manifest: whoever restores it is told. */
function entriesOf(manifest: string): BackupEntry[] | null {
  try {
    return parseManifest(manifest).entries
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

const installationOf = (name: string): string => BACKUP_NAME.exec(name)?.[1] ?? ''
const timeOf = (name: string): string => name.slice(installationOf(name).length)

const notThere = (name: string, address: string): AppError =>
  new AppError('not_found', `The bucket ${address} has no backup ${name}.`)

type FileEntry = Extract<BackupEntry, { sha256: string }>
const isFile = (entry: BackupEntry): entry is FileEntry => 'sha256' in entry

/** One file for each content. */
function distinct(entries: readonly BackupEntry[]): Map<string, FileEntry> {
  const files = new Map<string, FileEntry>()
  for (const entry of entries.filter(isFile)) files.set(entry.sha256, entry)
  return files
}

/** Repeats a request that fails for a reason that may pass. */
async function patiently<Result>(request: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await request()
    } catch (error) {
      const status = error instanceof S3ServiceError ? error.status : 500
      const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429
      if (isFinal || tried === TRIES) throw error
      await pause(FIRST_PAUSE_MS * 2 ** (tried - 1))
    }
  }
}

async function send(
  client: S3mini,
  { key, file, size }: { key: string; file: string; size: number },
): Promise<void> {
  const type = 'application/octet-stream'
  if (size <= PART_BYTES) {
    await patiently(() =>
      client.putObject(
        key,
        size === 0 ? '' : webStreamOf(createReadStream(file)),
        type,
        undefined,
        undefined,
        size,
      ),
    )
    return
  }
  const upload = await patiently(() => client.getMultipartUploadId(key, type))
  const handle = await open(file)
  try {
    const parts: Awaited<ReturnType<S3mini['uploadPart']>>[] = []
    const part = Buffer.alloc(PART_BYTES)
    for (let start = 0; start < size; start += PART_BYTES) {
      const { bytesRead } = await handle.read(part, 0, PART_BYTES, start)
      const bytes = part.subarray(0, bytesRead)
      parts.push(await patiently(() => client.uploadPart(key, upload, bytes, parts.length + 1)))
    }
    await patiently(() => client.completeMultipartUpload(key, upload, parts))
  } catch (error) {
    // Parts that nobody completes cost their space. The reason for the failure matters more than that of this one.
    await client.abortMultipartUpload(key, upload).catch(() => undefined)
    throw error
  } finally {
    await handle.close()
  }
}

/** Leaves out what the bucket does not have. @throws AppError when it has other contents. */
async function receive(
  client: S3mini,
  key: string,
  { target, sha256 }: { target: string; sha256: string },
): Promise<void> {
  await patiently(async () => {
    let body: Response['body']
    try {
      ;({ body } = await client.getObjectRaw(key, true))
    } catch (error) {
      if (error instanceof S3ServiceError && error.status === 404) return
      throw error
    }
    if (body === null) throw new Error('a response without a body')
    const hash = createHash('sha256')
    await pipeline(
      Readable.from(body, { objectMode: false }),
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          yield chunk
        }
      },
      createWriteStream(target, { mode: 0o600 }),
    )
    if (hash.digest('hex') !== sha256)
      throw new Error(`the content ${sha256} did not arrive as it was stored`)
  })
}

async function assertFits(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize > bytes) return
  const inMb = (count: number) => `${Math.ceil(count / 1024 ** 2).toLocaleString('en')} MB`
  throw new AppError(
    'conflict',
    `The backup has ${inMb(bytes)}, and ${folder} has ${inMb(bavail * bsize)} of free space. Nothing was restored.`,
  )
}
