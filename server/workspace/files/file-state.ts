// The state of an entry (kind, size, version), and reading and replacing whole files.
import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { appError } from '../../errors.ts'
import { sizeText } from '../../lib/size-text.ts'
import { systemCode } from '../../lib/system-faults.ts'
import { linkRefused } from './faults.ts'
import { notRegular, type OpenPlace, openRegularFile, type ProjectPath } from './paths.ts'
import type { EntryKind } from './walk.ts'

/** What is known of a file without reading it. */
export interface FileState {
  kind: EntryKind
  /** Bytes. */
  size: number
  /** Changes with every change of the file. A writer sends it back to prove that it has seen the current content. */
  version: string
  /** Permission bits. */
  mode: number
}

/** The bytes of a file, with the state in which they were read. */
export interface FileContent {
  bytes: Buffer
  state: FileState
}

/** Whether two versions are of the same file with the same content, which may have another name now. */
export const isSameContent = (version: string, other: string): boolean =>
  version.slice(0, version.lastIndexOf('-')) === other.slice(0, other.lastIndexOf('-'))

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
  // The last part also changes when the file is renamed.
  version: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs]
    .map((n) => n.toString(36))
    .join('-'),
  mode: Number(stats.mode) & 0o777,
})

/** The state of a real path, without following links; null when nothing is there. */
export const statEntry = async (real: string): Promise<FileState | null> => {
  try {
    return stateOf(await lstat(real, { bigint: true }))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Reads a regular file of at most `maxBytes`. Throws `file_too_large`, and what `openRegularFile` throws. */
export async function readWhole(
  place: OpenPlace,
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
    // Reads one byte more than expected, to detect a growing file instead of reading it forever.
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

/** Throws unless the target is a file of the version that the writer expects, or does not exist. */
export function assertReplaceable(
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
