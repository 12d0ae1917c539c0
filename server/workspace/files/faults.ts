// Translates file-system errors into `AppError`.
import { AppError, appError } from '../../errors.ts'
import { systemCode } from '../../lib/system-faults.ts'

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
