// Checks that all instances of a store see the same folders: a marker in each, with an id that the database knows.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'

/** The key of the agreed id among the server's settings. */
export const FOLDERS_KEY = 'shared_folders'
export const AgreedFolders = z.object({ id: z.string() })
const MARKER_FILE = '.nanoclaw-store'
/** How long a network file system may take to show a file that another machine has just written. */
const VISIBLE_MS = 10_000
const LOOK_EVERY_MS = 250

/** A folder, and the configuration key that names it. */
export interface SharedFolder {
  key: string
  path: string
}

/**
 * What is wrong with a folder and what to do, for the operator; null when it is the agreed one. Reads only.
 * @param id the id that the instances of the store have agreed on.
 */
export async function folderFault(
  { key, path }: SharedFolder,
  id: string,
): Promise<{ detail: string; advice: string } | null> {
  const folder = resolve(path)
  const file = join(folder, MARKER_FILE)
  const found = await readMarker(file)
  if (found === id) return null
  const state =
    found === null
      ? `it contains no ${MARKER_FILE}`
      : `its ${MARKER_FILE} belongs to another installation`
  return {
    detail: `${key} (${folder}) is not the folder that the other instances of this database use: ${state}`,
    advice: `Mount their folder there. If you moved all their files here on purpose, mark the folder: echo ${id} > ${file}`,
  }
}

/**
 * Marks the folders at the first start of several instances; afterwards every instance must find the marks.
 * @throws AppError when a folder is another one.
 */
export async function agreeOnFolders(
  settings: Pick<Store['settings'], 'get' | 'putNew'>,
  folders: readonly SharedFolder[],
  visibleMs = VISIBLE_MS,
): Promise<void> {
  const own = randomUUID()
  await settings.putNew(FOLDERS_KEY, { id: own })
  const { id } = AgreedFolders.parse(await settings.get(FOLDERS_KEY, AgreedFolders))
  const until = performance.now() + visibleMs
  for (const folder of folders) {
    if (id === own) await mark(folder.path, id)
    for (;;) {
      const fault = await folderFault(folder, id)
      if (fault === null) break
      if (performance.now() > until)
        throw new AppError('store_unavailable', `${fault.detail}. ${fault.advice}`)
      await pause(LOOK_EVERY_MS)
    }
  }
}

/** Only if there is none: the folder of another store is refused. */
async function mark(path: string, id: string): Promise<void> {
  await mkdir(resolve(path), { recursive: true, mode: 0o700 })
  try {
    // Never overwrites another marker, not even one that cannot be read.
    await writeFile(join(resolve(path), MARKER_FILE), `${id}\n`, { flush: true, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

async function readMarker(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch {
    // An unreadable folder counts as missing, because it is not a shared folder.
    return null
  }
}
