// Reserves the growth of a project while a program runs, and detects when it may not grow any more.
import { statfs } from 'node:fs/promises'
import type { ProjectUse } from './checkpoints/whole-project-change.ts'
import type { Workspace } from './workspace.ts'

const CHECK_INTERVAL_MS = 500
/** The disk must lose at least this much, or everything that may still be added, before the project is measured again. */
const MIN_STEP_BYTES = 16 * 1024 * 1024

/** What is known about the growth that a running program causes. */
export type Growth = Pick<ProjectUse, 'usedBytes' | 'maxBytes' | 'reserve'>

/**
 * Calls `onFull` once when the project may not grow any more. Cheap: measures the project only when the whole disk has lost
 * half of what the project may still grow by, at least `MIN_STEP_BYTES`. The measured growth is reserved, so that programs
 * in several projects of a user share the user's remaining storage. Returns a function that stops watching.
 */
export function watchGrowth(
  { root, stats }: Pick<Workspace, 'root' | 'stats'>,
  { usedBytes, maxBytes, reserve }: Growth,
  onFull: () => void,
): () => void {
  let stopped = false
  let timer: NodeJS.Timeout
  /** The project is measured when the disk has fewer free bytes than this. */
  let threshold: number | undefined
  const check = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(root)
    const free = bavail * bsize
    threshold ??= free - growthUntilMeasured(maxBytes - usedBytes)
    if (free < threshold) {
      const { totalSize } = await stats()
      if (stopped) return
      const room = await reserve(totalSize)
      if (stopped) return
      if (totalSize > Math.max(room, usedBytes)) return onFull()
      threshold = free - growthUntilMeasured(room - totalSize)
    }
    wait()
  }
  const wait = (): void => {
    if (stopped) return
    // If the free space cannot be read, the next check tries again. The measurement after the run finds any excess.
    timer = setTimeout(() => void check().catch(wait), CHECK_INTERVAL_MS)
  }
  void check().catch(wait)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** Number of bytes that the disk may lose before a project that may grow by `left` bytes is measured. */
const growthUntilMeasured = (left: number): number =>
  Math.max(0, Math.min(left, Math.max(left / 2, MIN_STEP_BYTES)))
