// A file system with little room, and a file that fills it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly folder: string
  /** Takes all the room that is left. */
  fill(): void
  /** Gives it back. */
  free(): void
  /** From now on nothing on it can be changed. */
  makeReadOnly(): void
  unmount(): void
}

/** A file system of its own; null where we may not mount one. */
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
        // The disk is full now, as wanted.
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
