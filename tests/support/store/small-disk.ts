// A small file system (tmpfs) that tests can fill up or make read-only.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly folder: string
  /** Uses up all free space. */
  fill(): void
  /** Frees the space that `fill` used. */
  free(): void
  /** Remounts it read-only. */
  makeReadOnly(): void
  unmount(): void
}

/** Mounts a file system of this size; null if mounting is not permitted. */
export function smallDisk(kilobytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-small-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
  const filler = join(folder, 'filler')
  return {
    folder,
    fill() {
      try {
        for (let left = kilobytes; left > 0; left -= 4)
          writeFileSync(filler, Buffer.alloc(4_096), { flag: 'a' })
      } catch {
        // ENOSPC: the disk is full, as intended.
      }
    },
    free: () => rmSync(filler, { force: true }),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', folder]),
    unmount() {
      execFileSync('umount', [folder])
      rmSync(folder, { recursive: true })
    },
  }
}
