// A folder for the incomplete files of this process, beside those of other processes.
import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, rm, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'

/** Distinguishes this process from an earlier one with the same pid, for example in a restarted container. */
const PROCESS_TOKEN = randomUUID()
const ABANDONED_MS = 24 * 60 * 60_000
const RENEW_EVERY_MS = 60 * 60_000

/** Receives what could not be removed. */
interface FolderLog {
  warn(details: object, message: string): void
}

/**
 * Removes what dead processes left in `parent`, and creates the folder of this process in it, whose time it renews every
 * hour: to other hosts it is in use as long as the process lives. @returns its path.
 */
export async function openProcessFolder(parent: string, log?: FolderLog): Promise<string> {
  const own = join(parent, `${hostname()}~${process.pid}~${PROCESS_TOKEN}`)
  await sweepProcessFolders(own, log)
  await mkdir(own, { recursive: true, mode: 0o700 })
  setInterval(() => void renew(own), RENEW_EVERY_MS).unref()
  return own
}

/**
 * Creates the folder of this process again if another host has removed it, for example while this machine was suspended. Its
 * parent must exist: a volume that is not mounted is not replaced by a folder.
 */
export async function ensureProcessFolder(own: string): Promise<void> {
  await mkdir(own, { mode: 0o700 }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  })
}

async function renew(own: string): Promise<void> {
  const now = new Date()
  try {
    await ensureProcessFolder(own)
    await utimes(own, now, now)
  } catch {
    // The volume cannot be written now: whoever uses the folder next is told so.
  }
}

/**
 * Removes what dead processes left beside the folder of this process. A live process may share the parent: its folder stays
 * while it lives or, on another host where that is unknown, for a day after its last use.
 */
export async function sweepProcessFolders(own: string, log?: FolderLog): Promise<void> {
  const parent = dirname(own)
  for (const name of await readdir(parent)) {
    const [host, pid, token] = name.split('~')
    if (token === PROCESS_TOKEN) continue
    const isDead =
      host === hostname()
        ? Number(pid) === process.pid || !isAlive(Number(pid))
        : Date.now() - (await usedAt(join(parent, name))) > ABANDONED_MS
    if (isDead) await removeLeftover(join(parent, name), log)
  }
}

/** What cannot be removed waits for the next time: it must not prevent a start. */
async function removeLeftover(folder: string, log: FolderLog | undefined): Promise<void> {
  // A child of the dead process may still be writing.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }
  try {
    await rm(folder, options).catch(async () => {
      await makeRemovable(folder)
      await rm(folder, options)
    })
  } catch (error) {
    log?.warn({ err: error, folder }, 'what an earlier process left could not be removed yet')
  }
}

/** Opens all folders of a tree to their owner: a program of a user may have closed them. Does not follow links. */
async function makeRemovable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeRemovable(join(folder, entry.name))
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
