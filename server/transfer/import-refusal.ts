// Why a file is refused that should become projects: what is wrong with its archive, as the error of the request.
import { AppError, appError } from '../errors.ts'
import { ImportFault } from './import-items.ts'

/** The refusal that an error stands for; null for one that is none of the file's. */
export function toRefusal(error: unknown): AppError | null {
  if (error instanceof ImportFault) return archiveRefusal(error)
  if (!(error instanceof AppError)) return null
  const { code, params = {} } = error
  // A path that is refused in a project is a fault of the archive here.
  return code === 'path_escapes'
    ? appError('project_import_entry_refused', { path: String(params.path ?? '') })
    : error
}

function archiveRefusal({ failure: { reason, params = {} } }: ImportFault): AppError {
  switch (reason) {
    case 'import_archive_encrypted':
      return appError('project_import_encrypted')
    case 'import_archive_too_large':
      return appError('project_import_unpacked_too_large', { limit: String(params.limit) })
    case 'import_archive_too_many_files':
      return appError('upload_has_too_many_files', { limit: Number(params.limit) })
    default:
      return appError('project_import_archive_damaged')
  }
}
