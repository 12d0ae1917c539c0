// What the file system's own errors mean to a person: the one translation into the error table.
import { AppError } from '../../errors.ts'

/** The system's error name (`ENOENT`), or an empty string when it is no system error. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** A number of bytes for a reader: `5 MB`, `1.3 GB`, `200 bytes`. */
export function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const value = bytes / 1024 ** unit
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit]}`
}

/** Turns what a system call threw into an `AppError` about `path` (relative to the project; never a host path). */
export function explainFault(error: unknown, path: string): AppError {
  if (error instanceof AppError) return error
  const shown = path === '' ? 'the project folder' : `"${path}"`
  const options = { cause: error }
  switch (systemCode(error)) {
    case 'ENOENT':
      return new AppError('not_found', `There is no file or folder ${shown}.`, options)
    case 'ENOTDIR':
      return new AppError(
        'not_found',
        `${shown} cannot be reached: a part of it is not a folder.`,
        options,
      )
    case 'ELOOP':
      return linkRefused(path, error)
    case 'EEXIST':
    case 'ENOTEMPTY':
    case 'EISDIR':
      return new AppError('conflict', `${shown} exists already, or is a folder.`, options)
    case 'EINVAL':
    case 'ENXIO':
    case 'ESTALE':
      // Something else took its place between two looks: a link for a file, a pipe for a folder.
      return new AppError(
        'file_changed',
        `${shown} was replaced while it was used. Nothing was changed; try again.`,
        options,
      )
    case 'ENAMETOOLONG':
      return new AppError('bad_request', `The name of ${shown} is too long.`, options)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new AppError('forbidden', `The server may not do that to ${shown}.`, options)
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError(
        'store_full',
        'The disk is full: nothing was changed. Free some space and try again.',
        options,
      )
    case 'EFBIG':
      return new AppError('file_too_large', `${shown} would be too large.`, options)
    case 'EMFILE':
    case 'ENFILE':
      return new AppError('store_busy', 'Too many files are open. Try again in a moment.', {
        ...options,
        retryable: true,
        retryAfter: 1,
      })
    default:
      return new AppError('internal', `${shown} could not be used.`, options)
  }
}

/** The answer to every symbolic link on the way: links are never followed, wherever they point. */
export const linkRefused = (path: string, cause?: unknown): AppError =>
  new AppError(
    'path_escapes',
    `"${path}" is, or passes through, a symbolic link. Links are not followed in a project.`,
    cause === undefined ? {} : { cause },
  )
