// Errors of the operating system: their codes, and what tells an absent file from one that cannot be read.

/** The system's error code (`ENOENT`), or an empty string when it is not a system error. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Whether nothing has the path of a failed system call. A path below a file counts: nothing can be there. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes(systemCode(error))

/**
 * What a system call found, or null if nothing has its path. Every other error is thrown: a file without permission, on a
 * faulty disk or among too many open ones exists, and whoever took it for absent would write over it or forget it.
 */
export const unlessMissing = <T>(reading: Promise<T>): Promise<T | null> =>
  reading.catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
