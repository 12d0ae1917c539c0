// A backup as a folder: copies of folders that may change meanwhile, and a manifest with the SHA-256 of every file.
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import {
  chmod,
  lstat,
  mkdir,
  open,
  opendir,
  readFile,
  readlink,
  rm,
  symlink,
} from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { isMissing, unlessMissing } from '../lib/system-faults.ts'

/** The file that lists all others. */
export const MANIFEST_NAME = 'manifest.jsonl'
/** How often a folder is copied again because it changed meanwhile. */
const PASSES = 5

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const RelativePath = z
  .string()
  .min(1)
  .refine(
    (path) => !path.startsWith('/') && !path.split('/').includes('..') && !path.includes('\0'),
  )

/** One file, link or folder of a backup; `path` is relative to it, with `/`. */
const Entry = z.union([
  z.strictObject({ path: RelativePath, size: z.int().min(0), sha256: Sha256, mode: z.int() }),
  z.strictObject({ path: RelativePath, link: z.string() }),
  z.strictObject({ path: RelativePath, folder: z.literal(true) }),
])
export type BackupEntry = z.infer<typeof Entry>

/** The first line of a manifest. */
const BackupHeader = z.object({
  nanoclaw: z.literal('backup'),
  format: z.literal(2),
  version: z.string(),
  createdAt: z.iso.datetime(),
  dialect: z.enum(['sqlite', 'postgres']),
  /** Its file in the backup. */
  database: RelativePath,
  /** What is not in the backup, for the operator. */
  missing: z.array(z.string()),
  /** Whether only what is meant to be elsewhere is missing. Absent in backups of earlier versions. */
  complete: z.boolean().optional(),
})
type BackupHeader = z.infer<typeof BackupHeader>

const End = z.strictObject({ end: z.literal(true), entries: z.int(), sha256: Sha256 })

/** @throws when the file exists. */
export async function writeManifest(
  folder: string,
  header: BackupHeader,
  entries: readonly BackupEntry[],
): Promise<void> {
  const text = [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  const end: z.infer<typeof End> = { end: true, entries: entries.length, sha256 }
  const handle = await open(join(folder, MANIFEST_NAME), 'wx', 0o600)
  try {
    await handle.writeFile(`${text}${JSON.stringify(end)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const damaged = (detail: string, cause?: unknown): AppError =>
  new AppError('bad_request', `The backup is damaged: ${detail}. Nothing was restored.`, { cause })

/** What a manifest begins with, though not all of it may be there; null if it is none. */
export function parseHeader(start: string): BackupHeader | null {
  try {
    return BackupHeader.parse(JSON.parse(start.split('\n', 1)[0] ?? ''))
  } catch {
    return null
  }
}

/** @throws AppError when it is missing, damaged or from a newer version. */
export async function readManifest(
  folder: string,
): Promise<{ header: BackupHeader; entries: BackupEntry[] }> {
  const text = await readFile(join(folder, MANIFEST_NAME), 'utf8').catch((error: unknown) => {
    throw damaged(`${MANIFEST_NAME} cannot be read`, error)
  })
  return parseManifest(text)
}

/** What a manifest lists. @throws AppError when it is damaged or from a newer version. */
export function parseManifest(text: string): { header: BackupHeader; entries: BackupEntry[] } {
  const start = text.lastIndexOf('\n', text.length - 2) + 1
  try {
    const end = End.parse(JSON.parse(text.slice(start)))
    const body = text.slice(0, start)
    if (createHash('sha256').update(body).digest('hex') !== end.sha256)
      throw new Error('its checksum is wrong')
    const [first = '', ...rest] = body.trimEnd().split('\n')
    const entries = rest.map((line) => Entry.parse(JSON.parse(line)))
    return { header: BackupHeader.parse(JSON.parse(first)), entries }
  } catch (error) {
    throw damaged(`${MANIFEST_NAME} is not intact`, error)
  }
}

/**
 * Reads every file of a backup and compares it with the manifest.
 * @returns the paths of those that are missing.
 * @throws AppError when one has other contents.
 */
export async function verifyBackup(
  folder: string,
  entries: readonly BackupEntry[],
): Promise<string[]> {
  const missing: string[] = []
  for (const entry of entries) {
    if (!('sha256' in entry)) continue
    const path = join(folder, entry.path)
    const found = await unlessMissing(lstat(path))
    if (found === null) {
      missing.push(entry.path)
      continue
    }
    if (!found.isFile() || found.size !== entry.size || (await hashOf(path)) !== entry.sha256)
      throw damaged(`${entry.path} does not have the checksum of the manifest`)
  }
  return missing
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** What is to be copied. */
interface Walked {
  skips(path: string): boolean
  /** Receives the paths of what exists and cannot be read. */
  unreadable: Set<string>
}

/** The result of `read`; null when `path` is gone or, which is noted, cannot be read. */
const readable = <T>(path: string, { unreadable }: Walked, read: Promise<T>): Promise<T | null> =>
  read.catch((error: unknown) => {
    if (!isMissing(error)) unreadable.add(path)
    return null
  })

/** Everything below a folder except what `skips`; nothing if it is missing. Does not follow links. */
async function* walk(folder: string, walked: Walked): AsyncGenerator<string> {
  const handle = await readable(folder, walked, opendir(folder))
  if (handle === null) return
  for await (const entry of handle) {
    const path = join(folder, entry.name)
    if (walked.skips(path)) continue
    yield path
    if (entry.isDirectory()) yield* walk(path, walked)
  }
}

/** A copied path with what tells whether it has changed since. */
interface Copied {
  entry: BackupEntry
  state: string
}

/** What was copied. */
export interface CopiedTree {
  entries: BackupEntry[]
  /** Whether it kept changing until the last pass, so that the copy may mix several moments. */
  isMixed: boolean
  /** What could not be read and is not in the copy: paths as those of entries. */
  unreadable: string[]
}

/**
 * Copies a folder that may change meanwhile, until nothing has changed during a pass: the copy then is as the folder was at
 * one moment.
 * @param options.base the folder of the backup, to which the paths of the entries are relative.
 * @param options.skips paths (of the source) that are not copied, with everything below them.
 */
export async function copyTree(
  source: string,
  target: string,
  { base, skips = () => false }: { base: string; skips?: (path: string) => boolean },
): Promise<CopiedTree> {
  let known = new Map<string, Copied>()
  let unreadable = new Set<string>()
  let isMixed = true
  for (let pass = 0; pass < PASSES && isMixed; pass += 1) {
    isMixed = false
    const seen = new Map<string, Copied>()
    unreadable = new Set()
    const walked: Walked = { skips, unreadable }
    for await (const path of walk(source, walked)) {
      const to = join(target, relative(source, path))
      const before = known.get(path)
      const copied = await copyOne(path, to, { base, before, walked })
      if (copied === null) continue
      if (before?.state !== copied.state) isMixed = true
      seen.set(path, copied)
    }
    for (const [path] of known)
      if (!seen.has(path)) {
        isMixed = true
        await rm(join(target, relative(source, path)), { recursive: true, force: true })
      }
    known = seen
  }
  return {
    entries: [...known.values()].map(({ entry }) => entry),
    isMixed,
    unreadable: [...unreadable].map((path) => pathIn(base, join(target, relative(source, path)))),
  }
}

/** The path of an entry, for a file in the backup. */
const pathIn = (base: string, file: string): string => relative(base, file).split(sep).join('/')

/** Null for what is neither file, link nor folder, and for what was removed meanwhile or cannot be read. */
async function copyOne(
  from: string,
  to: string,
  { base, before, walked }: { base: string; before: Copied | undefined; walked: Walked },
): Promise<Copied | null> {
  const found = await readable(from, walked, lstat(from))
  if (found === null) return null
  const path = pathIn(base, to)
  if (found.isDirectory()) {
    await mkdir(to, { recursive: true, mode: 0o700 })
    return { entry: { path, folder: true }, state: 'folder' }
  }
  const state = `${found.mode} ${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}`
  if (before?.state === state) return before
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await rm(to, { recursive: true, force: true })
  if (found.isSymbolicLink()) {
    const link = await readable(from, walked, readlink(from))
    if (link === null) return null
    await symlink(link, to)
    return { entry: { path, link }, state }
  }
  if (!found.isFile()) return null
  const mode = found.mode & 0o777
  const copied = await copyHashed(from, to, mode).catch(async (error: unknown) => {
    await rm(to, { force: true })
    if (isMissing(error)) return null
    if (!isOfReading(error, from)) throw error
    walked.unreadable.add(from)
    return null
  })
  return copied === null ? null : { entry: { path, mode, ...copied }, state }
}

/** Whether reading `from` failed, and not writing its copy. */
const isOfReading = (error: unknown, from: string): boolean =>
  error instanceof Error &&
  'syscall' in error &&
  (error.syscall === 'read' || (error.syscall === 'open' && 'path' in error && error.path === from))

/** Copies a file and waits until it is on the disk. */
async function copyHashed(
  from: string,
  to: string,
  mode: number,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  const counted = counting(hash)
  await pipeline(
    createReadStream(from),
    counted.stream,
    createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }),
  )
  await chmod(to, mode)
  return { size: counted.size(), sha256: hash.digest('hex') }
}

function counting(hash: Hash): { stream: Transform; size(): number } {
  let size = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return { stream, size: () => size }
}

/** The entry of a file that is already in the backup. */
export async function entryOf(base: string, file: string): Promise<BackupEntry> {
  const { size, mode } = await lstat(file)
  return { path: pathIn(base, file), size, sha256: await hashOf(file), mode: mode & 0o777 }
}

/**
 * Creates what the entries below a folder of the backup describe. Checks each file again while it is copied.
 * @param part the folder in the backup, such as `workspaces`.
 */
export async function restoreTree(
  backup: string,
  part: string,
  entries: readonly BackupEntry[],
  target: string,
): Promise<void> {
  makeFolder(target)
  for (const entry of entries) {
    if (!entry.path.startsWith(`${part}/`)) continue
    const to = join(target, entry.path.slice(part.length + 1))
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    if ('folder' in entry) await mkdir(to, { recursive: true, mode: 0o700 })
    else if ('link' in entry) await symlink(entry.link, to)
    else {
      const from = join(backup, entry.path)
      if ((await unlessMissing(lstat(from))) === null) continue
      const { sha256 } = await copyHashed(from, to, entry.mode)
      if (sha256 !== entry.sha256) throw damaged(`${entry.path} changed while it was restored`)
    }
  }
}
