// The copies of what restores and upgrades replaced (`….before-restore-<time>`, `….before-<time>`): found, and removed by age.
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { unlessMissing } from '../lib/system-faults.ts'

/** Where such copies are. */
export interface CopyPlaces {
  dataFolder: string
  workspaceRoot: string
  /** The SQLite database; null for PostgreSQL. */
  databaseFile: string | null
}

/** One copy, a file or a folder. */
export interface ReplacedCopy {
  path: string
  /** When it was made, or moved here since. */
  at: Date
}

const DAY_MS = 24 * 60 * 60 * 1000
const STAMP =
  /\.before-(?:restore-)?(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z(?:-wal|-shm|\.jsonl)?$/
/** All copies except those of keys, which are kept, oldest first. */
export async function replacedCopies(places: CopyPlaces): Promise<ReplacedCopy[]> {
  const { dataFolder, workspaceRoot, databaseFile } = places
  const found: ReplacedCopy[] = []
  const look = async (folder: string, isOurs: (name: string) => boolean): Promise<void> => {
    for (const name of (await unlessMissing(readdir(folder))) ?? []) {
      const time = isOurs(name) ? madeAt(name) : null
      if (time === null) continue
      const path = join(folder, name)
      const state = await unlessMissing(stat(path))
      if (state !== null)
        found.push({ path, at: new Date(Math.max(time.getTime(), state.ctimeMs)) })
    }
  }
  // Copies of keys stay: they are small, and without them, what an earlier installation stored sealed is lost for good.
  await look(resolve(dataFolder), (name) => /^(?:documents|database)\./.test(name))
  await look(resolve(workspaceRoot), (name) => name.startsWith('.before-restore-'))
  if (databaseFile !== null) {
    const file = resolve(databaseFile)
    await look(dirname(file), (name) => name.startsWith(`${basename(file)}.before-`))
  }
  return found.sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** Null for any other name. */
function madeAt(name: string): Date | null {
  const [, day, hours, minutes, seconds, milliseconds] = STAMP.exec(name) ?? []
  if (day === undefined) return null
  const time = new Date(`${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`)
  return Number.isNaN(time.getTime()) ? null : time
}

interface Removing {
  places: CopyPlaces
  /** Days after which a copy is removed; null keeps all. */
  days: number | null
  now(): Date
  log: {
    info(details: object, message: string): void
    warn(details: object, message: string): void
  }
  /** Milliseconds between two looks; for tests. */
  everyMs?: number
}

/** Removes old copies now and every day. @returns a function that ends it. */
export function removeOldCopies({
  places,
  days,
  now,
  log,
  everyMs = DAY_MS,
}: Removing): () => void {
  if (days === null) return () => {}
  const remove = async (): Promise<void> => {
    const dueBefore = now().getTime() - days * DAY_MS
    for (const { path, at } of await replacedCopies(places)) {
      if (at.getTime() >= dueBefore) return
      try {
        await rm(path, { recursive: true, force: true })
        log.info({ copy: path, made: at }, `removed a copy that is older than ${days} days`)
      } catch (error) {
        log.warn({ err: error, copy: path }, 'an old copy could not be removed')
      }
    }
  }
  void remove()
  const timer = setInterval(() => void remove(), everyMs).unref()
  return () => clearInterval(timer)
}
