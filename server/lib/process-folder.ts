// A folder for the incomplete files of this process, beside those of other processes.
import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rm, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createLockFile, tryLock } from './file-lock.ts'

/** Distinguishes this process from an earlier one with the same pid, for example in a restarted container. */
const PROCESS_TOKEN = randomUUID()
const ABANDONED_MS = 24 * 60 * 60_000
const RENEW_EVERY_MS = 60 * 60_000

/** Receives what could not be removed. */
interface FolderLog {
  warn(details: object, message: string): void
}

/** The locks of this process, by the folder that each stands for. */
const held = new Map<string, { close(): void }>()

/** The file that a process has locked as long as it uses a folder. */
const lockOf = (folder: string): string => `${folder}.lock`

/**
 * Removes what dead processes left in `parent`, and creates the folder of this process in it, with a lock beside it. Where
 * locks do not work, and to other hosts, it is in use as long as its time is renewed, every hour. @returns its path.
 */
export async function openProcessFolder(parent: string, log?: FolderLog): Promise<string> {
  const own = join(parent, `${hostname()}~${process.pid}~${PROCESS_TOKEN}`)
  await sweepProcessFolders(own, log)
  hold(own)
  await mkdir(own, { recursive: true, mode: 0o700 })
  setInterval(() => void renew(own), RENEW_EVERY_MS).unref()
  return own
}

/** Locks a folder of this process; without a lock if that is impossible there. */
function hold(own: string): void {
  // Those whose parents are gone, such as the folders of an earlier server in this process.
  for (const [folder, lock] of held)
    if (!existsSync(dirname(folder))) {
      lock.close()
      held.delete(folder)
    }
  if (held.has(own)) return
  try {
    createLockFile(lockOf(own))
    const lock = tryLock(lockOf(own))
    if (lock !== null) held.set(own, lock)
  } catch {
    // A lock file that is not locked would say that this process is dead.
    rmSync(lockOf(own), { force: true })
  }
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
 * Removes what dead processes left beside the folder of this process. A live process may share the parent, also one of
 * another container whose host name and pid are the same: its folder stays while it is locked or, where locks do not say it,
 * for a day after its last use.
 */
export async function sweepProcessFolders(own: string, log?: FolderLog): Promise<void> {
  const parent = dirname(own)
  const names = await readdir(parent)
  for (const name of names) {
    if (name.includes(`~${PROCESS_TOKEN}`)) continue
    const folder = join(parent, name)
    if (name.endsWith('.lock')) {
      if (!names.includes(name.slice(0, -'.lock'.length)) && isLocked(folder) === false)
        await rm(folder, { force: true })
    } else if (await isDead(folder)) {
      await removeLeftover(folder, log)
      await rm(lockOf(folder), { force: true })
    }
  }
}

/** Whether the process of a folder has ended. */
async function isDead(folder: string): Promise<boolean> {
  const [host, pid] = basename(folder).split('~')
  const isUnused = async () => Date.now() - (await usedAt(folder)) > ABANDONED_MS
  if (host !== hostname()) return await isUnused()
  const locked = isLocked(lockOf(folder))
  if (locked !== null) return !locked
  // Of a version without locks, or where they do not work. The same pid is that of another container, or of an earlier process.
  if (Number(pid) === process.pid) return await isUnused()
  return !isAlive(Number(pid))
}

/** Whether a process holds a lock file; null if there is none, or nobody can tell. */
function isLocked(file: string): boolean | null {
  if (!existsSync(file)) return null
  try {
    const lock = tryLock(file)
    lock?.close()
    return lock === null
  } catch {
    return null
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
