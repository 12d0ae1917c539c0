// The installation: an id in the database and beside its files, so that no start works on files of another database.

import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { StoreLog } from '../db/database.ts'
import { CLUSTER_KEY, type InstallationReferences } from '../db/repositories/installation.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { makeFolder } from '../lib/make-folder.ts'

/** The key of the id among the server's settings. Several instances agreed on it before every installation had one. */
export const INSTALLATION_KEY = 'shared_folders'
export const InstallationId = z.object({ id: z.string().min(1) })
/** The name of the marker in a folder, and of the object in a bucket after its prefix. */
export const MARKER_NAME = '.nanoclaw-store'
/** How long a network file system may take to show a file that another machine has just written. */
const VISIBLE_MS = 10_000
const LOOK_EVERY_MS = 250

/**
 * What a place contains: nothing that a database would refer to, something that this database refers to, or only what it
 * does not refer to.
 */
export type PlaceContents = 'none' | 'known' | 'unknown'

/** Where files of an installation are: a folder or a bucket. */
export interface Place {
  /** The configuration key that names it. */
  key: string
  /** The folder or bucket, for the operator. */
  name: string
  /** Whether other machines may have another folder under the same name. */
  isLocal: boolean
  /** The id of the installation that it belongs to; null when it is not marked. */
  marker(): Promise<string | null>
  /** Marks it, by default only if it has no marker. */
  mark(id: string, options?: { replaces: boolean }): Promise<void>
  contents(references: InstallationReferences): Promise<PlaceContents>
  /** Whether the database refers to contents of this place. */
  isReferred(references: InstallationReferences): boolean
}

/** The marker of a folder. */
export function folderMarker(path: string): Pick<Place, 'name' | 'isLocal' | 'marker' | 'mark'> {
  const folder = resolve(path)
  const file = join(folder, MARKER_NAME)
  const marker = async (): Promise<string | null> => {
    // An unreadable marker counts as missing here; writing it fails then, and `settleInstallation` reads it again.
    const text = await readFile(file, 'utf8').catch(() => '')
    return text.trim() === '' ? null : text.trim()
  }
  return {
    name: folder,
    isLocal: true,
    marker,
    async mark(id, { replaces } = { replaces: false }) {
      makeFolder(folder)
      const draft = `${file}.${randomUUID()}`
      await writeFile(draft, `${id}\n`, { flush: true, flag: 'wx', mode: 0o600 })
      try {
        if (replaces) await rename(draft, file)
        else
          await link(draft, file).catch(async (error: unknown) => {
            if (isTaken(error)) throw error
            // A file system without hard links. A process that dies while it writes leaves an empty marker, as below.
            await writeFile(file, `${id}\n`, { flush: true, flag: 'wx', mode: 0o600 })
          })
      } catch (error) {
        if (!isTaken(error)) throw error
        // Not replaced, unless an interrupted write of an earlier version left it empty.
        if ((await marker()) === null) await rename(draft, file)
      } finally {
        await rm(draft, { force: true })
      }
    },
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'

/** What is wrong with a place, and the way on, for the operator. */
export interface PlaceFault {
  detail: string
  advice: string
}

/** The command that gives the configured places to the configured database. */
export const ADOPT = 'nanoclaw admin adopt'
const WAY_ON = `Set data_dir, workspace_root and s3 to the places of this database, or the database (db_type, db_sqlite_file, database_url) to that of these places. To give these places to this database: ${ADOPT}`

/** The fault of a marker that is not the database's; null if it is. @param id null: the database has none yet. */
function markerFault({ key, name }: Place, marker: string, id: string | null): PlaceFault | null {
  if (marker === id) return null
  return {
    detail: `${key} (${name}) belongs to another database: ${MARKER_NAME} names the installation ${marker}, and this database ${id === null ? 'has no id yet' : `is of the installation ${id}`}`,
    advice: WAY_ON,
  }
}

const unmarkedFault = ({ key, name }: Place): PlaceFault => ({
  detail: `${key} (${name}) is not the folder that the other instances of this database use: it contains no ${MARKER_NAME}`,
  advice: `Mount their folder there. If you moved all their files here on purpose, mark the folder: ${ADOPT}`,
})

/**
 * The fault of an unmarked place according to its contents; null if there is none, `unclear` if the database refers to
 * nothing there although it is not empty.
 */
async function contentsFault(
  place: Place,
  references: InstallationReferences,
): Promise<PlaceFault | 'known' | 'unclear' | null> {
  const contents = await place.contents(references)
  if (contents === 'known') return 'known'
  const where = `${place.key} (${place.name})`
  if (contents === 'none')
    return place.isReferred(references)
      ? {
          detail: `${where} contains none of the files that this database refers to`,
          advice: WAY_ON,
        }
      : null
  if (!references.isFresh && !place.isReferred(references)) return 'unclear'
  const what = references.isFresh ? 'This database is new' : 'This database refers to none of them'
  return { detail: `${where} contains files of another database. ${what}`, advice: WAY_ON }
}

const unclearFault = ({ key, name }: Place): PlaceFault => ({
  detail: `${key} (${name}) contains files, but nothing shows that they belong to this database`,
  advice: WAY_ON,
})

/**
 * The first fault of the places of a database; null if all belong to it. Reads only.
 * @param id the id of the database; null if it has none yet.
 * @param isJoining whether other instances of the database have marked their folders.
 */
export async function installationFault(
  places: readonly Place[],
  id: string | null,
  references: InstallationReferences,
  isJoining = false,
): Promise<PlaceFault | null> {
  let isProven = false
  const unclear: Place[] = []
  for (const place of places) {
    const marker = await place.marker()
    if (marker !== null) {
      const fault = markerFault(place, marker, id)
      if (fault !== null) return fault
      isProven = true
    } else if (isJoining && place.isLocal) return unmarkedFault(place)
    else {
      const fault = await contentsFault(place, references)
      if (fault === 'known') isProven = true
      else if (fault === 'unclear') unclear.push(place)
      else if (fault !== null) return fault
    }
  }
  const [first] = unclear
  return first === undefined || isProven ? null : unclearFault(first)
}

/** Throws the fault as the reason why a start or a command is refused. */
export function refuse({ detail, advice }: PlaceFault): never {
  throw new AppError('store_unavailable', `${detail}. ${advice}`)
}

/**
 * Ensures that the places belong to the database, and marks those that are not marked yet. Nothing is written before all
 * places have been checked; the id is stored before the markers, so that an interrupted first start can be repeated.
 * A bucket that cannot be reached does not prevent the start of a database whose folders are marked as its own.
 * @param options.isShared whether several instances use the database.
 * @returns the id of the installation.
 * @throws AppError when a place belongs to another database, or seems to.
 */
export async function settleInstallation({
  settings,
  references,
  places,
  isShared,
  log,
  visibleMs = VISIBLE_MS,
}: {
  settings: Pick<Store['settings'], 'get' | 'create'>
  references(): Promise<InstallationReferences>
  places: readonly Place[]
  isShared: boolean
  log: Pick<StoreLog, 'warn'>
  visibleMs?: number
}): Promise<string> {
  const read = async (): Promise<string | null> =>
    (await settings.get(INSTALLATION_KEY, InstallationId))?.id ?? null
  const stored = await read()
  const unreachable: unknown[] = []
  const markers = await Promise.all(
    places.map((place) =>
      place.marker().catch((error: unknown) => {
        if (place.isLocal) throw error
        unreachable.push(error)
        return stored
      }),
    ),
  )
  const [fault] = unreachable
  if (stored !== null && markers.every((marker) => marker === stored)) {
    if (fault !== undefined)
      log.warn({ err: fault }, 'whether the bucket belongs to this database could not be checked')
    return stored
  }
  if (fault !== undefined) throw fault
  const referred = await references()
  const check = (id: string | null) =>
    installationFault(places, id, referred, isShared && id !== null)
  if (stored === null) {
    const found = await check(null)
    // Unless another instance has settled it since: the places are then compared with its id.
    if (found !== null && (await read()) === null) refuse(found)
  }
  const own = randomUUID()
  if (stored === null) await settings.create(INSTALLATION_KEY, { id: own })
  const id = (await read()) ?? own
  if (id !== own) {
    // Another instance may just be marking them.
    const until = performance.now() + (isShared ? visibleMs : 0)
    for (;;) {
      const fault = await check(id)
      if (fault === null) break
      if (performance.now() >= until) refuse(fault)
      await pause(LOOK_EVERY_MS)
    }
  }
  for (const place of places) {
    if ((await place.marker()) === null) await place.mark(id)
    const marker = await place.marker()
    // Another server may have marked it at the same moment, or it cannot be written.
    const fault = markerFault(place, marker ?? 'that cannot be read', id)
    if (fault !== null) refuse(fault)
  }
  return id
}

/**
 * Gives all places to the database, whoever they belonged to. @returns the id of the installation.
 * @param options.isCopy whether the database is the copy of another one, whose ids it has: it gets its own.
 */
export async function adoptPlaces(
  settings: Pick<Store['settings'], 'get' | 'store' | 'create'>,
  places: readonly Place[],
  { isCopy }: { isCopy: boolean },
): Promise<string> {
  if (isCopy)
    for (const key of [INSTALLATION_KEY, CLUSTER_KEY])
      await settings.store(key, { id: randomUUID() })
  await settings.create(INSTALLATION_KEY, { id: randomUUID() })
  const { id } = InstallationId.parse(await settings.get(INSTALLATION_KEY, InstallationId))
  for (const place of places) await place.mark(id, { replaces: true })
  return id
}
