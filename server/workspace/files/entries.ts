// Changes of single entries that touch no file content: folders, links, renames.
import { mkdir, rename, rmdir, symlink } from 'node:fs/promises'
import { appError } from '../../errors.ts'
import { systemCode } from '../../lib/system-faults.ts'
import { linkRefused } from './faults.ts'
import { statEntry } from './file-state.ts'
import { type ProjectPath, withPlace } from './paths.ts'

/** How a change is written to the disk. */
export interface DiskOptions {
  /** Set if the caller syncs many changes together (job `sync_paths`) instead of each one. */
  deferSync?: boolean
}

/** Creates a folder and its missing parents. Resolves with false when it already exists. */
export const createFolder = (
  root: string,
  path: ProjectPath,
  { deferSync = false }: DiskOptions,
): Promise<boolean> =>
  withPlace(root, path, { create: true }, async (place) => {
    const before = await statEntry(place.real)
    if (before?.kind === 'directory') return false
    if (before?.kind === 'link') throw linkRefused(path.text)
    await mkdir(place.real, { mode: 0o700 })
    if (!deferSync) await place.folder.handle.sync()
    return true
  })

/** A path as a disk that ignores case and Unicode normalization compares it. */
const folded = ({ text }: ProjectPath): string => text.normalize('NFC').toLowerCase()

/** Renames an entry, creating missing folders. Throws `conflict` when something is at `to`. */
export async function moveEntry(root: string, from: ProjectPath, to: ProjectPath): Promise<void> {
  if (to.text === from.text) return
  if (to.text.startsWith(`${from.text}/`)) throw appError('folder_into_itself')
  await withPlace(root, from, {}, async (source) => {
    // Checked before the target's folders are created, so that a failure leaves nothing behind.
    const moved = await statEntry(source.real)
    if (moved === null) throw appError('file_not_found', { path: from.text })
    await withPlace(root, to, { create: true }, async (target) => {
      const there = await statEntry(target.real)
      // On a disk where both spellings are one name, the entry itself is found at the target.
      const isItself = there?.version === moved.version && folded(from) === folded(to)
      if (there !== null && !isItself) throw appError('path_taken', { path: to.text })
      await rename(source.real, target.real)
      await target.folder.handle.sync()
      await source.folder.handle.sync()
    })
  })
}

/** Removes an empty folder; resolves with false when it is not empty or not a folder. */
export const removeEmptyFolder = (root: string, path: ProjectPath): Promise<boolean> =>
  withPlace(root, path, {}, async (place) => {
    try {
      await rmdir(place.real)
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(systemCode(error))) return false
      throw error
    }
    await place.folder.handle.sync()
    return true
  })

/** Creates a symbolic link; nothing in this module follows it. */
export const createLink = (root: string, path: ProjectPath, target: string): Promise<void> =>
  withPlace(root, path, { create: true }, async (place) => {
    await symlink(target, place.real)
    await place.folder.handle.sync()
  })
