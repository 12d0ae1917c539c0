// Space that is kept back in the data folder, so that a server whose disk is full can start, and delete something.
// Several processes may share the folder: what its files say holds for all of them.
import { randomUUID } from 'node:crypto'
import { open, rename, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from './system-faults.ts'

/** Enough for the files that a start creates and for the log of many deletions. */
const RESERVE_BYTES = 8 * 1024 * 1024
/** Below this, a start may fail, and the reserve is used. */
const LOW_BYTES = 2 * 1024 * 1024
/** The reserve is created only if it leaves this much free. */
const AMPLE_BYTES = 8 * 1024 * 1024
const CHECK_EVERY_MS = 5_000
/** Requests that come one after the other do not each ask the disk whether another process has used the reserve. */
const UNUSED_KNOWN_MS = 250
const NAME = '.reserve'
/** An empty file, there while the reserve is used. */
const USED_NAME = '.reserve-used'

/** The methods of the server's log that this file uses. */
export interface ReserveLog {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

/** The reserve of a data folder. */
export interface DiskReserve {
  /**
   * Whether this process or another one has used the reserve because the disk is full, and it still is: only what deletes
   * something may write.
   */
  isUsed(): Promise<boolean>
  /** Uses the reserve if the disk has become full. Call it before something is deleted. */
  makeRoom(): Promise<void>
  /** Creates the reserve as soon as there is ample space, now and again while the server runs. Call it once it has started. */
  keep(): void
  close(): void
}

/** Where a reserve is, and how full its disk is. */
interface Place {
  readonly folder: string
  readonly file: string
  readonly used: string
  freeBytes(folder: string): Promise<number>
}

/**
 * Uses the reserve if the disk is full. Call it before anything is written; otherwise, it creates nothing.
 * @param freeBytes how much space the disk of a folder has.
 */
export async function openDiskReserve(
  folder: string,
  log: ReserveLog,
  freeBytes: Place['freeBytes'] = freeBytesOf,
): Promise<DiskReserve> {
  const place: Place = {
    folder,
    file: join(folder, NAME),
    used: join(folder, USED_NAME),
    freeBytes,
  }
  // Before the first start there is no folder.
  const isLow = async (): Promise<boolean> =>
    (await freeBytes(folder).catch(() => Number.POSITIVE_INFINITY)) < LOW_BYTES
  /** The disk has no space for the file that would say so. */
  let isUnsaid = false
  const use = async (): Promise<void> => {
    isUnsaid = !(await release(place))
    log.error(
      { folder },
      'The disk of data_dir is full. The server runs on the space that it has kept back: everything can be read and deleted, and nothing else is stored until there is space again.',
    )
  }
  if (await isLow()) await use()
  const isUsedNow = async (): Promise<boolean> => isUnsaid || (await exists(place.used))
  /** When the reserve was last found unused, in milliseconds of the process. */
  let unusedAt = Number.NEGATIVE_INFINITY
  const isUsed = async (): Promise<boolean> => {
    const now = performance.now()
    if (now - unusedAt < UNUSED_KNOWN_MS) return false
    const isNow = await isUsedNow()
    if (!isNow) unusedAt = now
    return isNow
  }
  /** Only one at a time, however slow the disk is. */
  let isChecking = false
  const check = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    try {
      if (!(await fill(place)) || !(await isUsedNow())) return
      await rm(place.used, { force: true })
      // Another process has used the reserve since it was seen: what said so is said again.
      if (!(await exists(place.file)))
        return void (await writeFile(place.used, '', { mode: 0o600 }))
      isUnsaid = false
      log.info({ folder }, 'There is space on the disk again: everything can be stored.')
    } finally {
      isChecking = false
    }
  }
  // What fails, such as a folder that is gone, is tried again.
  const checkSafely = (): void => void check().catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  return {
    isUsed,
    async makeRoom() {
      const isNeeded = !(await isUsedNow()) && (await isLow()) && (await exists(place.file))
      // Another request may have used it meanwhile.
      if (isNeeded && !(await isUsedNow())) await use()
      unusedAt = Number.NEGATIVE_INFINITY
    },
    keep() {
      checkSafely()
      timer = setInterval(checkSafely, CHECK_EVERY_MS).unref()
    },
    close: () => clearInterval(timer),
  }
}

/** Frees the space, for all processes at once: the file takes the name that says so. @returns whether it does. */
async function release({ file, used }: Place): Promise<boolean> {
  try {
    await rename(file, used)
  } catch {
    // Another process has used it, or there was none.
    return await writeFile(used, '', { mode: 0o600 }).then(
      () => true,
      () => false,
    )
  }
  await truncate(used).catch((error: unknown) => {
    // Another process has found space again, and removed it: that frees as much.
    if (!isMissing(error)) throw error
  })
  return true
}

/** Creates the reserve if it is missing and there is ample space. @returns whether it is there. */
async function fill({ folder, file, freeBytes }: Place): Promise<boolean> {
  if (await exists(file)) return true
  if ((await freeBytes(folder)) < RESERVE_BYTES + AMPLE_BYTES) return false
  const draft = `${file}.${randomUUID()}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      // Written, not only sized: a sparse file would keep nothing back.
      const piece = Buffer.alloc(1024 * 1024, 1)
      for (let written = 0; written < RESERVE_BYTES; written += piece.length)
        await handle.write(piece)
    } finally {
      await handle.close()
    }
    await rename(draft, file)
    return true
  } catch {
    await rm(draft, { force: true })
    return false // no space after all: the next check tries again
  }
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
