// Detects a running program that fills the disk far beyond its project's limit.
import { statfs } from 'node:fs/promises'
import type { Workspace } from './workspace.ts'

const CHECK_INTERVAL_MS = 500

/**
 * Calls `onFull` once when the project's files exceed `maxBytes`; they had `usedBytes` at the start. Cheap: measures the
 * project only when the whole disk has lost as much space as the project had left. Returns a function that stops it.
 */
export function watchGrowth(
  { root, stats }: Pick<Workspace, 'root' | 'stats'>,
  { usedBytes, maxBytes }: { usedBytes: number; maxBytes: number },
  onFull: () => void,
): () => void {
  let stopped = false
  let timer: NodeJS.Timeout
  /** With fewer free bytes on the disk, the project is measured. */
  let threshold: number | undefined
  const check = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(root)
    const free = bavail * bsize
    threshold ??= free - Math.max(0, maxBytes - usedBytes)
    if (free < threshold) {
      const { totalSize } = await stats()
      if (stopped) return
      if (totalSize > Math.max(maxBytes, usedBytes)) return onFull()
      threshold = free - Math.max(0, maxBytes - totalSize)
    }
    wait()
  }
  const wait = (): void => {
    if (stopped) return
    // When the free space cannot be read, the next check tries again; the measurement after the run finds any excess.
    timer = setTimeout(() => void check().catch(wait), CHECK_INTERVAL_MS)
  }
  void check().catch(wait)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
