// Changes of single entries below a project's folder that touch no content: folders, links, renames.
import { mkdir, rename, rmdir, symlink } from 'node:fs/promises'
import { appError } from '../../errors.ts'
import { linkRefused, systemCode } from './faults.ts'
import { look } from './file-state.ts'
import { type ProjectPath, withPlace } from './paths.ts'

export interface DiskOptions {
  /** The caller syncs many changes to the disk together (the job `force_paths`) instead of each one. */
  later?: boolean
}

/** Creates a folder and its missing parents. Resolves with false when it existed already. */
export const createFolder = (
  root: string,
  path: ProjectPath,
  { later = false }: DiskOptions,
): Promise<boolean> =>
  withPlace(root, path, { create: true }, async (place) => {
    const before = await look(place.real)
    if (before?.kind === 'directory') return false
    if (before?.kind === 'link') throw linkRefused(path.text)
    await mkdir(place.real, { mode: 0o700 })
    if (!later) await place.folder.handle.sync()
    return true
  })

/** A path as a disk compares names that ignores case and Unicode normalization. */
const folded = ({ text }: ProjectPath): string => text.normalize('NFC').toLowerCase()

/** Renames an entry, creating missing folders. Throws `conflict` when there is something at `to`. */
export async function moveEntry(root: string, from: ProjectPath, to: ProjectPath): Promise<void> {
  if (to.text === from.text) return
  if (to.text.startsWith(`${from.text}/`)) throw appError('folder_into_itself')
  await withPlace(root, from, {}, async (source) => {
    // Checked before the folders of the target are created, so that a failure leaves nothing behind.
    const moved = await look(source.real)
    if (moved === null) throw appError('file_not_found', { path: from.text })
    await withPlace(root, to, { create: true }, async (target) => {
      const there = await look(target.real)
      // On a disk that takes both spellings for one name, the entry itself is found at the target.
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

/** Creates a symbolic link, which nothing here follows. */
export const createLink = (root: string, path: ProjectPath, target: string): Promise<void> =>
  withPlace(root, path, { create: true }, async (place) => {
    await symlink(target, place.real)
    await place.folder.handle.sync()
  })
