// Path containment: the only code that turns a path from a user or model into one for system calls, and what their errors mean.
import { existsSync, constants as fs } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, appError, projectDeleted } from '../../errors.ts'
import { systemCode } from '../../lib/system-faults.ts'

/** A checked path inside a project. `text` is its normalized form; '' means the project's folder. */
export interface ProjectPath {
  readonly text: string
  readonly segments: readonly string[]
}

/** Limits of a path: bytes in total, bytes of one name, depth of folders. */
export const PATH_LIMITS = { bytes: 1024, nameBytes: 255, depth: 32 } as const

// Control characters, and characters that make a name look like another one: separators and direction overrides.
const DECEPTIVE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u
const LONE_SURROGATE = /\p{Surrogate}/u

const escapes = (): AppError => appError('path_escapes')

/**
 * Checks and normalizes an untrusted path lexically, without system calls. @throws AppError `path_escapes` (403) if the
 * path leaves the project, `bad_request` (400) if no file may have the name.
 */
export function parsePath(input: string): ProjectPath {
  if (input.length > 4 * PATH_LIMITS.bytes) throw appError('path_too_long')
  // Backslashes count as slashes first, so that a Windows-style escape is reported as an escape.
  const withSlashes = input.replaceAll('\\', '/')
  if (withSlashes.startsWith('/') || /^[a-z]:\//i.test(withSlashes)) throw escapes()
  const segments: string[] = []
  for (const part of withSlashes.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') segments.push(part)
    else if (segments.pop() === undefined) throw escapes()
  }
  if (input.includes('\\')) throw appError('path_has_backslashes')
  if (DECEPTIVE.test(input)) throw appError('path_has_invisible_characters')
  if (LONE_SURROGATE.test(input)) throw appError('path_not_unicode')
  const text = segments.join('/')
  if (Buffer.byteLength(text) > PATH_LIMITS.bytes) throw appError('path_too_long')
  if (segments.length > PATH_LIMITS.depth)
    throw appError('path_too_deep', { limit: PATH_LIMITS.depth })
  for (const name of segments)
    if (Buffer.byteLength(name) > PATH_LIMITS.nameBytes) throw appError('path_name_too_long')
  return { text, segments }
}

/** Like `parsePath`, but refuses the project's folder. For entries to create, change or remove. */
export function parseInnerPath(input: string): ProjectPath {
  const path = parsePath(input)
  if (path.segments.length === 0) throw appError('path_is_project')
  return path
}

/** The path of an entry in a folder. `name` comes from the file system and is used unchanged. */
export const childPath = (parent: string, name: string): string =>
  parent === '' ? name : `${parent}/${name}`

/**
 * An open folder. Names below `real` refer to this folder even if it is renamed, or replaced by a link, in the meantime.
 */
export interface OpenFolder {
  readonly real: string
  /** For system calls on the folder itself (making a rename durable). */
  readonly handle: FileHandle
  close(): Promise<void>
}

// With /proc, a folder is reached through its open descriptor, and the kernel refuses links at each step down.
// Elsewhere (macOS, Windows) each step is checked before use, which leaves a race that only a local program could
// exploit.
export const HAS_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd')
export const FOLDER_FLAGS = fs.O_RDONLY | (fs.O_DIRECTORY ?? 0) | (fs.O_NOFOLLOW ?? 0)

async function openOne(real: string): Promise<OpenFolder> {
  if (!HAS_DESCRIPTOR_PATHS && (await lstat(real)).isSymbolicLink())
    throw Object.assign(new Error('a link'), { code: 'ELOOP' })
  const handle = await open(real, FOLDER_FLAGS)
  return {
    real: HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${handle.fd}` : real,
    handle,
    close: () => handle.close(),
  }
}

/**
 * Opens the folder `name` below an open folder without following a link. `forWriting`: the caller writes into it.
 */
async function openChild(
  parent: OpenFolder,
  name: string,
  path: string,
  forWriting = false,
): Promise<OpenFolder> {
  const real = join(parent.real, name)
  try {
    return await openOne(real)
  } catch (error) {
    // For a link the system returns ENOTDIR or ELOOP, so lstat decides.
    const isLink = await lstat(real).then(
      (stats) => stats.isSymbolicLink(),
      () => systemCode(error) === 'ELOOP',
    )
    if (isLink) throw linkRefused(path, error)
    if (forWriting && systemCode(error) === 'ENOTDIR') throw appError('file_in_the_way', { path })
    throw toFileError(error, path)
  }
}

/** Folders of projects that this process deleted; work that is still running must not recreate them. */
const removedRoots = new Set<string>()

/** Refuses every later use of the project's folder with `project_deleted`. */
export const markRemoved = (root: string): void => void removedRoots.add(root)

/** The folder was brought back: the project has it again. */
export const unmarkRemoved = (root: string): void => void removedRoots.delete(root)

/** Creates a project's missing folder, unless the project was deleted. */
async function createRoot(root: string): Promise<void> {
  if (removedRoots.has(root)) throw projectDeleted()
  await mkdir(root, { recursive: true, mode: 0o700 })
  // Deleted in the meantime: the recreated folder is empty.
  if (!removedRoots.has(root)) return
  await rmdir(root).catch(() => {})
  throw projectDeleted()
}

/**
 * Opens the folder at `segments` below `root`, descending folder by folder without following links. With `create`, creates
 * missing folders (0700). The caller closes it. Throws `AppError`.
 */
export async function openFolder(
  root: string,
  segments: readonly string[],
  options: { create?: boolean } = {},
): Promise<OpenFolder> {
  let folder = await openOne(root).catch(async (error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw toFileError(error, '')
    // Recreates the project's folder if somebody has removed it by hand.
    await createRoot(root)
    return openOne(root)
  })
  let text = ''
  for (const name of segments) {
    text = childPath(text, name)
    const parent = folder
    try {
      if (options.create) await createOne(parent, name, text)
      folder = await openChild(parent, name, text, options.create)
    } finally {
      await parent.close()
    }
  }
  return folder
}

async function createOne(parent: OpenFolder, name: string, path: string): Promise<void> {
  try {
    await mkdir(join(parent.real, name), { mode: 0o700 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw toFileError(error, path)
  }
}

/** Opens the folder at `path` for the duration of `work`. */
export async function withFolder<T>(
  root: string,
  path: ProjectPath,
  work: (folder: OpenFolder) => Promise<T>,
): Promise<T> {
  const folder = await openFolder(root, path.segments)
  try {
    return await work(folder)
  } catch (error) {
    throw toFileError(error, path.text)
  } finally {
    await folder.close()
  }
}

/** The location of an entry: its open folder and its name there. `real` is for system calls that follow no links. */
export interface OpenPlace {
  readonly folder: OpenFolder
  readonly name: string
  readonly real: string
}

/**
 * Opens the folder of the entry at `path` (which need not exist) for the duration of `work`. With `create`, creates missing
 * folders.
 */
export async function withPlace<T>(
  root: string,
  path: ProjectPath,
  options: { create?: boolean },
  work: (place: OpenPlace) => Promise<T>,
): Promise<T> {
  const name = path.segments.at(-1)
  if (name === undefined) throw appError('path_is_project')
  const folder = await openFolder(root, path.segments.slice(0, -1), options)
  try {
    return await work({ folder, name, real: join(folder.real, name) })
  } catch (error) {
    throw toFileError(error, path.text)
  } finally {
    await folder.close()
  }
}

/**
 * Opens a regular file for reading. Refuses links (403) and folders, devices, pipes and sockets (400) without opening them:
 * reading a pipe would block forever.
 */
export async function openRegularFile(place: OpenPlace, path: ProjectPath): Promise<FileHandle> {
  const before = await lstat(place.real)
  if (before.isSymbolicLink()) throw linkRefused(path.text)
  if (before.isDirectory()) throw appError('not_a_file', { path: path.text })
  if (!before.isFile()) throw notRegular(path.text)
  // Non-blocking, in case the entry was replaced by a pipe after the check.
  const handle = await open(place.real, fs.O_RDONLY | (fs.O_NOFOLLOW ?? 0) | (fs.O_NONBLOCK ?? 0))
  try {
    if (!(await handle.stat()).isFile()) throw notRegular(path.text)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The refusal of a path that is neither a file nor a folder. */
export const notRegular = (path: string): AppError => appError('not_a_regular_file', { path })

/** Converts an error of a system call into an `AppError` about `path` (relative to the project; never a host path). */
export function toFileError(error: unknown, path: string): AppError {
  if (error instanceof AppError) return error
  const options = { cause: error }
  const about = { path: path === '' ? '.' : path }
  switch (systemCode(error)) {
    case 'ENOENT':
      return appError('file_not_found', about, options)
    case 'ENOTDIR':
      return appError('path_through_file', about, options)
    case 'ELOOP':
      return linkRefused(path, error)
    case 'EEXIST':
    case 'ENOTEMPTY':
    case 'EISDIR':
      return appError('file_exists', about, options)
    case 'EINVAL':
    case 'ENXIO':
    case 'ESTALE':
      // The entry was replaced between two system calls, for example a file by a link.
      return appError('file_replaced', about, options)
    case 'ENAMETOOLONG':
      return appError('file_name_too_long', about, options)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return appError('file_access_denied', about, options)
    case 'ENOSPC':
    case 'EDQUOT':
      return appError('disk_full', {}, options)
    case 'EFBIG':
      return appError('file_would_be_too_large', about, options)
    case 'EMFILE':
    case 'ENFILE':
      return appError('too_many_files_open', {}, { ...options, retryable: true, retryAfter: 1 })
    default:
      return appError('file_unusable', about, options)
  }
}

/** The error for a symbolic link in a path: links are never followed, wherever they point. */
export const linkRefused = (path: string, cause?: unknown): AppError =>
  appError('link_refused', { path }, cause === undefined ? {} : { cause })
