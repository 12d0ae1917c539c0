// Notices while a program runs that it fills the disk: its project is then far beyond what it may hold.
import { statfs } from 'node:fs/promises'
import type { Workspace } from './workspace.ts'

const LOOK_EVERY_MS = 500

/**
 * Calls `onFull` once when the project has grown beyond its limit; `usedBefore` are the bytes of its files at the start.
 * Cheap: the project itself is measured only when the whole disk has lost as much room as the project had left.
 */
export function watchGrowth(
  workspace: Workspace,
  usedBefore: number,
  onFull: () => void,
): () => void {
  const { limits, root } = workspace
  let ended = false
  let timer: NodeJS.Timeout
  /** Free bytes below which the project is worth measuring. */
  let suspicious: number | undefined
  const look = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(root)
    const free = bavail * bsize
    suspicious ??= free - Math.max(0, limits.project - usedBefore)
    if (free < suspicious) {
      const { totalSize } = await workspace.stats()
      if (ended) return
      if (totalSize > Math.max(limits.project, usedBefore)) return onFull()
      suspicious = free - Math.max(0, limits.project - totalSize)
    }
    wait()
  }
  const wait = (): void => {
    if (ended) return
    // A disk that cannot be asked is looked at again; what is too much is found at the end in any case.
    timer = setTimeout(() => void look().catch(wait), LOOK_EVERY_MS)
  }
  void look().catch(wait)
  return () => {
    ended = true
    clearTimeout(timer)
  }
}
