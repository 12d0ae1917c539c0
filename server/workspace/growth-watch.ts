// Notices while a program runs that it fills the disk, far beyond what its project may hold.
import { statfs } from 'node:fs/promises'
import type { Workspace } from './workspace.ts'

const LOOK_EVERY_MS = 500

/**
 * Calls `onFull` once when the files of the project take more than `most` bytes; they took `usedBefore` at the start.
 * Cheap: the project itself is only measured when the whole disk has lost as much space as the project had left.
 */
export function watchGrowth(
  { root, stats }: Pick<Workspace, 'root' | 'stats'>,
  { usedBefore, most }: { usedBefore: number; most: number },
  onFull: () => void,
): () => void {
  let ended = false
  let timer: NodeJS.Timeout
  /** Below this many free bytes, the project is measured. */
  let suspicious: number | undefined
  const look = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(root)
    const free = bavail * bsize
    suspicious ??= free - Math.max(0, most - usedBefore)
    if (free < suspicious) {
      const { totalSize } = await stats()
      if (ended) return
      if (totalSize > Math.max(most, usedBefore)) return onFull()
      suspicious = free - Math.max(0, most - totalSize)
    }
    wait()
  }
  const wait = (): void => {
    if (ended) return
    // If the free space is unknown, the next check tries again; the final measurement finds excess in any case.
    timer = setTimeout(() => void look().catch(wait), LOOK_EVERY_MS)
  }
  void look().catch(wait)
  return () => {
    ended = true
    clearTimeout(timer)
  }
}
