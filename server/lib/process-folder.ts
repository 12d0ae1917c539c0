// A folder for the incomplete files of this process, beside those of other processes.
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'

/** Distinguishes this process from an earlier one with the same pid, for example in a restarted container. */
const PROCESS_TOKEN = randomUUID()
const ABANDONED_MS = 24 * 60 * 60_000

/** Removes what dead processes left in `parent`, and creates the folder of this process in it. @returns its path. */
export async function openProcessFolder(parent: string): Promise<string> {
  const own = join(parent, `${hostname()}~${process.pid}~${PROCESS_TOKEN}`)
  await sweepProcessFolders(own)
  await mkdir(own, { recursive: true, mode: 0o700 })
  return own
}

/**
 * Removes what dead processes left beside the folder of this process. A live process may share the parent: its folder stays
 * while it lives or, on another host where that is unknown, for a day after its last use.
 */
export async function sweepProcessFolders(own: string): Promise<void> {
  const parent = dirname(own)
  for (const name of await readdir(parent)) {
    const [host, pid, token] = name.split('~')
    if (token === PROCESS_TOKEN) continue
    const isDead =
      host === hostname()
        ? Number(pid) === process.pid || !isAlive(Number(pid))
        : Date.now() - (await usedAt(join(parent, name))) > ABANDONED_MS
    // A child of the dead process may still be writing.
    if (isDead)
      await rm(join(parent, name), {
        recursive: true,
        force: true,
        maxRetries: 10,
        retryDelay: 100,
      })
  }
}

/** Milliseconds; 0 when another process has just removed it. */
const usedAt = async (path: string): Promise<number> =>
  (await lstat(path).catch(() => null))?.mtimeMs ?? 0

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process is alive but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
