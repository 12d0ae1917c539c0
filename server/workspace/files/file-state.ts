// The state of one file at one time: its kind, size and version, and its content in one piece.
import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { appError } from '../../errors.ts'
import { linkRefused, sizeText, systemCode } from './faults.ts'
import { notRegular, openRegularFile, type Place, type ProjectPath } from './paths.ts'
import type { EntryKind } from './walk.ts'

export interface FileState {
  kind: EntryKind
  /** Bytes. */
  size: number
  /** Changes with every change of the file; a writer passes it back to prove that it knows the current file. */
  version: string
  /** Permission bits. */
  mode: number
}

export interface FileContent {
  bytes: Buffer
  state: FileState
}

/** The result of a stat call as a `FileState`. */
export const stateOf = (stats: BigIntStats): FileState => ({
  kind: stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'link'
        : 'other',
  size: Number(stats.size),
  version: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs]
    .map((n) => n.toString(36))
    .join('-'),
  mode: Number(stats.mode) & 0o777,
})

/** What is at a real path, not following a link; null when there is nothing. */
export const look = async (real: string): Promise<FileState | null> => {
  try {
    return stateOf(await lstat(real, { bigint: true }))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Reads a regular file of at most `maxBytes`. Throws `file_too_large`, and what `openRegularFile` throws. */
export async function readWhole(
  place: Place,
  path: ProjectPath,
  maxBytes: number,
): Promise<FileContent> {
  const handle = await openRegularFile(place, path)
  try {
    const state = stateOf(await handle.stat({ bigint: true }))
    const tooLarge = () =>
      appError(
        'file_too_large',
        { path: path.text, size: sizeText(state.size), limit: sizeText(maxBytes) },
        { details: { size: state.size, limit: maxBytes } },
      )
    if (state.size > maxBytes) throw tooLarge()
    // One byte more than expected is read, so that a growing file is noticed instead of read forever.
    const buffer = Buffer.allocUnsafe(state.size + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length > state.size) throw appError('file_changed_while_read', { path: path.text })
    return { bytes: buffer.subarray(0, length), state }
  } finally {
    await handle.close()
  }
}

/** Refuses to overwrite anything but a file, or a file that is not the version the writer expects. */
export function checkTarget(
  before: FileState | null,
  path: ProjectPath,
  expected: string | undefined,
): void {
  if (before?.kind === 'link') throw linkRefused(path.text)
  if (before?.kind === 'directory') throw appError('folder_takes_no_file', { path: path.text })
  if (before?.kind === 'other') throw notRegular(path.text)
  if (expected !== undefined && expected !== (before?.version ?? ''))
    throw appError(
      before === null
        ? 'file_deleted_meanwhile'
        : expected === ''
          ? 'file_created_meanwhile'
          : 'file_changed_meanwhile',
      { path: path.text },
      { details: { version: before?.version ?? null } },
    )
}
