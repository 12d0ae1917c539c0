// Reserves what a running program adds to its project, and detects one that may not add any more.
import { statfs } from 'node:fs/promises'
import type { ProjectUse } from './checkpoints/whole-project-change.ts'
import type { Workspace } from './workspace.ts'

const CHECK_INTERVAL_MS = 500
/** The disk has to lose at least this much, or all that may still be added, before the project is measured again. */
const MIN_STEP_BYTES = 16 * 1024 * 1024

/** What is known of a running program's growth. */
export type Growth = Pick<ProjectUse, 'usedBytes' | 'maxBytes' | 'reserve'>

/**
 * Calls `onFull` once when the project's files have no room any more. Cheap: measures the project only when the whole disk has
 * lost half of what the project may still grow by, `MIN_STEP_BYTES` at least. What is measured is reserved, so that programs in
 * several projects of a user share what the user may still store. Returns a function that stops it.
 */
export function watchGrowth(
  { root, stats }: Pick<Workspace, 'root' | 'stats'>,
  { usedBytes, maxBytes, reserve }: Growth,
  onFull: () => void,
): () => void {
  let stopped = false
  let timer: NodeJS.Timeout
  /** With fewer free bytes on the disk, the project is measured. */
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
    // When the free space cannot be read, the next check tries again; the measurement after the run finds any excess.
    timer = setTimeout(() => void check().catch(wait), CHECK_INTERVAL_MS)
  }
  void check().catch(wait)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** Bytes that the disk may lose before a project that may grow by `left` bytes is measured. */
const growthUntilMeasured = (left: number): number =>
  Math.max(0, Math.min(left, Math.max(left / 2, MIN_STEP_BYTES)))
