// Which folders a database was last used with: older ones of the same installation, for example from before a restore into
// new folders, lack what was stored since.
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { DatabaseSettings, StoreLog } from '../db/database.ts'
import { inspectSetting } from '../db/inspect.ts'
import type { Store } from '../db/store.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { type PlaceFault, refuse } from './installation.ts'

/** The key of the folders that the database was last used with, among the server's settings. */
const HOME_KEY = 'installation_home'
const Home = z.object({
  data_dir: z.string(),
  /** Absent if a version stored it that did not know it. */
  workspace_root: z.string().optional(),
  /** How often the database had been moved to other folders. */
  moves: z.int().optional(),
})
type Home = z.infer<typeof Home>
type Settings = Pick<Store['settings'], 'get' | 'store'>
/** The folders of an installation. */
export interface Folders {
  dataFolder: string
  workspaceRoot: string
}

/** Beside the marker of a folder: how often its database had been moved when it was last used with this folder. */
const MOVES_NAME = '.nanoclaw-moves'

/** Null for a folder that says nothing of it; NaN if what it says is damaged. */
async function movesOf(folder: string): Promise<number | null> {
  const text = await unlessMissing(readFile(join(folder, MOVES_NAME), 'utf8'))
  if (text === null) return null
  return /^\d+\n?$/.test(text) ? Number(text) : Number.NaN
}

async function writeMoves(folder: string, moves: number): Promise<void> {
  const file = join(folder, MOVES_NAME)
  const draft = `${file}.${randomUUID()}`
  try {
    await writeFile(draft, `${moves}\n`, { flush: true, flag: 'wx', mode: 0o600 })
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

const foldersOf = ({ dataFolder, workspaceRoot }: Folders) => ({
  data_dir: resolve(dataFolder),
  workspace_root: resolve(workspaceRoot),
})

/** The folders that the database was last used with; undefined if none were stored yet. */
export const lastFolders = (settings: Pick<Settings, 'get'>): Promise<Home | undefined> =>
  settings.get(HOME_KEY, Home)

/** How often the database was moved to other folders. Reads only. */
export const movesOfDatabase = async (settings: DatabaseSettings): Promise<number> =>
  Home.safeParse(await inspectSetting(settings, HOME_KEY)).data?.moves ?? 0

/** @throws AppError with a text for the operator when the database was used with other folders since. */
export async function assertNewestFolders(where: Folders, home: Home | undefined): Promise<void> {
  for (const [key, folder] of Object.entries(foldersOf(where))) {
    const moves = await movesOf(folder)
    if (Number.isNaN(moves))
      refuse({
        detail: `${join(folder, MOVES_NAME)} is damaged: it says whether ${key} is older than the database`,
        advice: `Make sure that ${key} names the newest folder. To use it then: nanoclaw admin adopt`,
      })
    if (moves === null || moves >= (home?.moves ?? 0)) continue
    const last = `data_dir ${home?.data_dir} and workspace_root ${home?.workspace_root}`
    const fault: PlaceFault = {
      detail: `${key} (${folder}) contains an older state of this installation: its database was used with ${last} since`,
      advice:
        'Set data_dir and workspace_root to these. To use the older files nevertheless: nanoclaw admin adopt',
    }
    refuse(fault)
  }
}

/** Remembers that the database is used with these folders from now on: in the folders first, so that a process may die between. */
export async function rememberFolders(
  where: Folders,
  settings: Settings,
  log: Pick<StoreLog, 'warn'>,
): Promise<void> {
  const home = await lastFolders(settings)
  const own = foldersOf(where)
  const found = await Promise.all(Object.values(own).map(movesOf))
  const highest = Math.max(home?.moves ?? 0, ...found.map((moves) => moves || 0))
  const isSame = home?.data_dir === own.data_dir && home.workspace_root === own.workspace_root
  const moves = isSame ? highest : highest + 1
  try {
    for (const [at, folder] of Object.values(own).entries())
      if (found[at] !== moves) await writeMoves(folder, moves)
    if (!isSame || home.moves !== moves) await settings.store(HOME_KEY, { ...own, moves })
  } catch (error) {
    // On a full disk, the server starts for deletions.
    log.warn({ err: error }, 'the folders of this database could not be stored')
  }
}

/**
 * After a restore, these folders are the newest ones. Where the backup was made stays stored: a start recognizes a copy by it.
 * @param replaced how often the database that was replaced had been moved.
 */
export async function settleRestoredFolders(
  where: Folders,
  settings: Settings,
  replaced: number,
): Promise<void> {
  const home = await lastFolders(settings)
  const folders = Object.values(foldersOf(where))
  const found = await Promise.all(folders.map(movesOf))
  const moves = Math.max(home?.moves ?? 0, replaced, ...found.map((each) => each || 0)) + 1
  // A backup of an earlier version brings no projects, so that their folder may not exist.
  for (const folder of folders.filter((path) => existsSync(path))) await writeMoves(folder, moves)
  if (home !== undefined) await settings.store(HOME_KEY, { ...home, moves })
}
