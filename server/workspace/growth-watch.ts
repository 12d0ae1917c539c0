// Reserves the growth of a project while a program runs, and detects when it may not grow any more.
import { statfs } from 'node:fs/promises'
import type { ProjectUse } from './checkpoints/whole-project-change.ts'
import type { Workspace } from './workspace.ts'

const CHECK_INTERVAL_MS = 500
/**
 * The disk must lose at least this much space, or this many free entries, or all that may still be added, before the project is
 * measured again.
 */
const MIN_STEP = { bytes: 16 * 1024 * 1024, entries: 5_000 }

/** What is known about the growth that a running program causes. */
export type Growth = Pick<
  ProjectUse,
  'usedBytes' | 'maxBytes' | 'usedEntries' | 'maxEntries' | 'reserve'
>

/** How much the disk may lose before the project is measured: bytes, and entries of its tables of files. */
interface Loss {
  bytes: number
  entries: number
}

/**
 * Calls `onFull` once when the project may not grow any more. Cheap: measures the project only when the whole disk has lost
 * half of what the project may still grow by, at least `MIN_STEP`. The measured growth is reserved, so that programs
 * in several projects of a user share the user's remaining storage. Returns a function that stops watching.
 */
export function watchGrowth(
  { root, stats }: Pick<Workspace, 'root' | 'stats'>,
  { usedBytes, maxBytes, usedEntries, maxEntries, reserve }: Growth,
  onFull: () => void,
): () => void {
  let stopped = false
  let timer: NodeJS.Timeout
  /** The project is measured when the disk has less free space, or fewer free entries, than this. */
  let threshold: Loss | undefined
  const check = async (): Promise<void> => {
    const free = await freeOn(root)
    threshold ??= below(free, { bytes: maxBytes - usedBytes, entries: maxEntries - usedEntries })
    if (free.bytes < threshold.bytes || free.entries < threshold.entries) {
      const { countedSize, files, directories } = await stats()
      if (stopped) return
      const room = await reserve(countedSize)
      if (stopped) return
      const entries = files + directories
      if (countedSize > Math.max(room, usedBytes) || entries > maxEntries) return onFull()
      threshold = below(free, { bytes: room - countedSize, entries: maxEntries - entries })
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

/** A file system without a fixed number of entries says that it has none, and keeps saying so. */
async function freeOn(root: string): Promise<Loss> {
  const { bavail, bsize, ffree } = await statfs(root)
  return { bytes: bavail * bsize, entries: ffree }
}

/** @param left by how much the project may still grow. */
const below = (free: Loss, left: Loss): Loss => ({
  bytes: free.bytes - growthUntilMeasured(left.bytes, MIN_STEP.bytes),
  entries: free.entries - growthUntilMeasured(left.entries, MIN_STEP.entries),
})

/** How much the disk may lose before a project that may grow by `left` is measured. */
const growthUntilMeasured = (left: number, step: number): number =>
  Math.max(0, Math.min(left, Math.max(left / 2, step)))
