// The places of an installation's files, and the check that they belong to the database.
import { readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { settingOfDatabaseBackup } from '../db/backup.ts'
import { connect } from '../db/connect.ts'
import type { Database, DatabaseSettings, StoreLog } from '../db/database.ts'
import { inspectBlobs, inspectProjects, inspectSetting } from '../db/inspect.ts'
import { UNFINISHED_MOVE } from '../db/move/moved-tables.ts'
import { NO_REFERENCES } from '../db/repositories/installation.ts'
import { createStore } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { blobPath, blobsIn, discardedIn } from '../files/disk-blobs.ts'
import type { S3Blobs } from '../files/s3-blobs.ts'
import type { S3Settings } from '../files/s3-client.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { databaseName, holdFolders, isFolderHeld } from './held-folders.ts'
import {
  folderMarker,
  INSTALLATION_KEY,
  InstallationId,
  installationFault,
  MARKER_NAME,
  type Place,
  type PlaceContents,
  type PlaceFault,
  refuse,
  settleInstallation,
} from './installation.ts'
import { bucketName, type FilesPlace, filesFault, rememberFilesPlace } from './last-files.ts'
import {
  assertNewestFolders,
  lastFolders,
  rememberFolders,
  settleRestoredFolders,
} from './last-folders.ts'
import { assertNotMoved } from './moved-away.ts'
import type { StoreOwner } from './owner.ts'

/** Where the parts of an installation are. */
export interface InstallationSettings {
  dataFolder: string
  workspaceRoot: string
  database: DatabaseSettings
  blobFolder: string
  /** The bucket with the files of messages; null when they are in the blob folder. */
  bucket: S3Settings | null
  /** Whether several instances use it. */
  isShared: boolean
}

/** The places of an installation's files. */
export const installationPlaces = (settings: InstallationSettings): Place[] => [
  dataPlace(settings),
  workspacePlace(settings.workspaceRoot),
  ...(settings.bucket === null ? [] : [bucketPlace(settings.bucket)]),
]

/** Uploads and, by default, the database. The keys are of no use to find out whose folder it is. */
function dataPlace({ dataFolder, database, blobFolder, bucket }: InstallationSettings): Place {
  const hasBlobs = bucket === null
  const folder = resolve(dataFolder)
  return {
    key: 'data_dir',
    ...folderMarker(folder),
    isReferred: ({ blobs }) => hasBlobs && blobs.length > 0,
    async contents(references): Promise<PlaceContents> {
      // Files of a database with a bucket are not here, but those of another one may be.
      const wanted = hasBlobs ? references.blobs : []
      const contents =
        hasBlobs || references.isFresh
          ? await contentsOf(blobsIn(blobFolder), wanted, (sha256) =>
              exists(blobPath(blobFolder, sha256)),
            )
          : 'none'
      if (contents === 'known' || (contents === 'unknown' && references.blobs.length > 0))
        return contents
      // Only this database has been in this folder, whatever else is there.
      if (!references.isFresh && contains(folder, database)) return 'known'
      const other = join(folder, 'nanoclaw.db')
      const isOther = database.dialect === 'postgres' || resolve(database.file) !== other
      return isOther && (await exists(other)) ? 'unknown' : contents
    },
  }
}

/** Whether a folder has the name of a user or project, and not one that somebody else gave it. */
export const isIdName = (name: string): boolean => /^[0-9a-f-]{36}$/.test(name)

/** Projects: `<user>/<project>`, and their history in `.nanoclaw/projects/<project>`. */
function workspacePlace(path: string): Place {
  const root = resolve(path)
  const histories = join(root, '.nanoclaw', 'projects')
  async function* folders(): AsyncGenerator<string> {
    yield* ((await unlessMissing(readdir(histories))) ?? []).filter(isIdName)
    yield* ((await unlessMissing(readdir(root))) ?? []).filter(isIdName)
  }
  return {
    key: 'workspace_root',
    ...folderMarker(root),
    isReferred: ({ projects }) => projects.length > 0,
    contents: ({ projects, users }) =>
      contentsOf(
        folders(),
        [
          ...projects.flatMap(({ id, userId }) => [join(histories, id), join(root, userId, id)]),
          ...users.map((id) => join(root, id)),
        ],
        exists,
      ),
  }
}

/** The client is loaded only here: it costs every start without a bucket time. */
async function openBucket(settings: S3Settings): Promise<S3Blobs> {
  const { createS3Blobs } = await import('../files/s3-blobs.ts')
  return createS3Blobs(settings, tmpdir())
}

function bucketPlace(settings: S3Settings): Place {
  const name = bucketName(settings)
  const reach = <T>(work: (store: S3Blobs) => Promise<T>): Promise<T> =>
    openBucket(settings)
      .then(work)
      .catch(async (error: unknown) => {
        const { s3Cause } = await import('../files/s3-client.ts')
        const detail = `s3 (${name}) cannot be used: ${s3Cause(error)}`
        throw new AppError('store_unavailable', detail, { cause: error })
      })
  const marker = (): Promise<string | null> =>
    reach(async (store) => {
      const text = (await store.readNote(MARKER_NAME))?.trim() ?? ''
      return text === '' ? null : text
    })
  return {
    key: 's3',
    name,
    isLocal: false,
    marker,
    async mark(id, { replaces } = { replaces: false }) {
      if (replaces || (await marker()) === null)
        await reach((store) => store.writeNote(MARKER_NAME, `${id}\n`))
    },
    isReferred: ({ blobs }) => blobs.length > 0,
    contents: ({ blobs }) =>
      reach((store) => {
        async function* listed(): AsyncGenerator<string> {
          for await (const { sha256 } of store.list()) yield sha256
        }
        return contentsOf(listed(), blobs, (sha256) => store.has(sha256))
      }),
  }
}

/** Where the attached files are. */
function filesPlace(settings: InstallationSettings): FilesPlace {
  const { bucket, blobFolder } = settings
  if (bucket === null)
    return {
      place: dataPlace(settings),
      bucket,
      async *contents() {
        for await (const sha256 of blobsIn(blobFolder)) yield { sha256 }
        yield* await discardedIn(blobFolder)
      },
    }
  const { endpoint, prefix } = bucket
  return {
    place: bucketPlace(bucket),
    bucket: { endpoint, bucket: bucket.bucket, prefix },
    async *contents() {
      const store = await openBucket(bucket)
      yield* store.list()
      yield* store.trash()
    },
  }
}

/**
 * The fault of a place that lacks files which the database last had elsewhere. Reads only.
 * @param read reads a setting; by default, without being connected.
 */
export const filesLeftElsewhere = (
  settings: InstallationSettings,
  read = (key: string): Promise<unknown> => inspectSetting(settings.database, key),
): Promise<PlaceFault | null> =>
  filesFault(filesPlace(settings), {
    read,
    id: () => idOfDatabase(settings.database),
    wanted: () => inspectBlobs(settings.database),
  })

/** Remembers where the attached files of the database are. */
export const rememberFiles = (
  where: InstallationSettings,
  settings: Parameters<typeof rememberFilesPlace>[1],
  log: Pick<StoreLog, 'warn'>,
): Promise<void> => rememberFilesPlace(filesPlace(where), settings, log)

/** @param wanted names of what the database refers to. */
async function contentsOf(
  present: AsyncIterable<string>,
  wanted: readonly string[],
  has: (name: string) => Promise<boolean>,
): Promise<PlaceContents> {
  for (const name of wanted) if (await has(name)) return 'known'
  for await (const _ of present) return 'unknown'
  return 'none'
}

const exists = async (path: string): Promise<boolean> => (await unlessMissing(stat(path))) !== null

const contains = (folder: string, settings: DatabaseSettings): boolean =>
  settings.dialect === 'sqlite' && relative(folder, dirname(resolve(settings.file))) === ''

/**
 * Refuses a SQLite database that does not exist yet if the places have files of another one: connecting would create it.
 * @throws AppError with a text for the operator.
 */
export async function assertMayCreate(settings: InstallationSettings): Promise<void> {
  await assertNotRestoring(settings)
  await assertNotMoved(settings.dataFolder, settings.database)
  const { database } = settings
  if (database.dialect !== 'sqlite' || (await exists(resolve(database.file)))) return
  const fault = await installationFault(installationPlaces(settings), null, NO_REFERENCES)
  if (fault === null) return
  refuse({
    ...fault,
    detail: `The database ${resolve(database.file)} does not exist, and a new one would not belong to these files: ${fault.detail}`,
    advice: `${fault.advice}, after \`nanoclaw migrate\` has created it`,
  })
}

/**
 * Holds the configured folders together with the store. Several instances of one database use them together and hold nothing.
 * @throws AppError with a text for the operator when a process with another database uses one of them.
 */
export async function holdPlaces(
  { isShared, dataFolder, workspaceRoot, database }: InstallationSettings,
  owner: Pick<StoreOwner, 'alsoHolds'>,
  log: Pick<StoreLog, 'warn'>,
): Promise<void> {
  if (isShared) return
  const folders = [
    { key: 'data_dir', path: resolve(dataFolder) },
    { key: 'workspace_root', path: resolve(workspaceRoot) },
  ]
  owner.alsoHolds(await holdFolders(folders, databaseName(database), log))
}

/** Whether two paths lead to one folder, as through a link or a second mount. This process holds it by both of them. */
async function isSameFolder(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => unlessMissing(stat(path, { bigint: true }))),
  )
  return first != null && first.ino === second?.ino && first.dev === second.dev
}

/** Refuses the copy of a database and its folders while the original, which has the same id, runs on this machine. */
async function assertNoCopy(
  { dataFolder }: InstallationSettings,
  home: string | undefined,
  id: string,
  log: Pick<StoreLog, 'warn'>,
): Promise<void> {
  const own = resolve(dataFolder)
  if (home === undefined || home === own || !isFolderHeld(home, log)) return
  if ((await isSameFolder(home, own)) || (await folderMarker(home).marker()) !== id) return
  throw new AppError(
    'conflict',
    `This database and its folders are copies of those of the running NanoClaw process in ${home}: both are the installation ${id}, and each would send and run what the other does. To make this one an installation of its own, run: nanoclaw admin adopt copy`,
  )
}

/**
 * Ensures that the configured places belong to the open database, and marks them at the first start. The owner of the store
 * also holds its folders from then on.
 * @throws AppError with a text for the operator.
 */
export async function assertInstallation(
  where: InstallationSettings,
  database: Database,
  { owner, log }: { owner: Pick<StoreOwner, 'alsoHolds'>; log: Pick<StoreLog, 'warn'> },
): Promise<void> {
  const { settings, installation } = createStore(database)
  if ((await settings.get(UNFINISHED_MOVE, z.unknown())) !== undefined) refuse(UNFINISHED_FAULT)
  await assertNotMoved(where.dataFolder, where.database)
  const elsewhere = await filesLeftElsewhere(where, (key) => settings.get(key, z.unknown()))
  if (elsewhere !== null) refuse(elsewhere)
  const id = await settleInstallation({
    settings,
    references: installation.references,
    places: installationPlaces(where),
    isShared: where.isShared,
    log,
  })
  await holdPlaces(where, owner, log)
  const home = await lastFolders(settings)
  await assertNoCopy(where, home?.data_dir, id, log)
  if (!where.isShared) await assertNewestFolders(where, home)
  await rememberFiles(where, settings, log)
  if (where.isShared) return
  await rememberFolders(where, settings, log)
}

/** The id of the database; null if it has none yet or does not exist. Reads only. */
export async function idOfDatabase(settings: DatabaseSettings): Promise<string | null> {
  const stored = await inspectSetting(settings, INSTALLATION_KEY)
  return InstallationId.safeParse(stored).data?.id ?? null
}

/**
 * After a restore: a backup brings the id of its installation. One of an earlier version has none; it takes the place of the
 * database that it replaced.
 * @param replaced the id of that database, and how often it had been moved to other folders.
 * @returns why the next start is refused; null if it is not.
 */
export async function settleRestored(
  where: InstallationSettings,
  replaced: { id: string | null; moves: number },
): Promise<PlaceFault | null> {
  const database = await connect(where.database, { log: { info() {}, warn() {} } })
  try {
    const { settings, installation } = createStore(database)
    if (replaced.id !== null) await settings.create(INSTALLATION_KEY, { id: replaced.id })
    if (!where.isShared) await settleRestoredFolders(where, settings, replaced.moves)
    const places = installationPlaces(where)
    const id = await idOfDatabase(where.database)
    const fault = await installationFault(places, id, await installation.references())
    // From now on, and not only from the first start on, another database cannot take places that were empty before.
    if (fault === null && id !== null) for (const place of places) await place.mark(id)
    return fault ?? (await filesLeftElsewhere(where))
  } finally {
    await database.close()
  }
}

/**
 * The fault of a place that belongs neither to the configured database nor to that of a backup: a restore would set the files
 * of another installation aside. Null if there is none. Reads only.
 * @param backup the database of the backup.
 */
export async function othersPlace(
  settings: InstallationSettings,
  backup: string,
): Promise<PlaceFault | null> {
  const stored = await settingOfDatabaseBackup(backup, INSTALLATION_KEY)
  const restored = InstallationId.safeParse(stored).data?.id ?? null
  // A damaged SQLite file has no id, and is a reason to restore.
  const replaced = await idOfDatabase(settings.database).catch(() => 'damaged' as const)
  // A backup of an early version, or of a database that no server has used, takes the place of what it replaces: then nothing
  // shows that these places are another one's.
  if (restored === null && replaced === 'damaged') return null
  for (const place of installationPlaces(settings)) {
    const marker = await place.marker()
    if (marker === null || marker === replaced || marker === restored) continue
    return await installationFault([place], restored ?? replaced, NO_REFERENCES)
  }
  return null
}

/** Attached files that are looked for in places without a marker. */
const SAMPLE = 100

/**
 * Why the places are not those of the database, as the next start would find, for commands that do not connect. Reads only.
 * Null if they are.
 */
export async function elsewhere(settings: InstallationSettings): Promise<PlaceFault | null> {
  const { database } = settings
  const id = await idOfDatabase(database)
  const places = installationPlaces(settings)
  for (const place of places) {
    if ((await place.marker()) === null) continue
    const fault = await installationFault([place], id, NO_REFERENCES)
    if (fault !== null) return fault
  }
  const left = await filesLeftElsewhere(settings)
  if (left !== null) return left
  const projects = await inspectProjects(database)
  const references = {
    isFresh: false,
    // In a bucket, each that is missing is a request.
    blobs: (await inspectBlobs(database)).slice(0, SAMPLE),
    users: [],
    projects: projects.map(({ id, user: userId }) => ({ id, userId })),
  }
  return installationFault(places, id, references)
}

const UNFINISHED_FAULT: PlaceFault = {
  detail: 'A move into this database was interrupted, so that it is not complete',
  advice:
    'Run the same `nanoclaw move` again with the configuration of the earlier database; it continues where it ended',
}

/** @throws AppError with a text for the operator when only a part of another database is in this one. Reads only. */
export async function assertMoveEnded(database: DatabaseSettings): Promise<void> {
  if ((await inspectSetting(database, UNFINISHED_MOVE)) !== undefined) refuse(UNFINISHED_FAULT)
}

/** In the data folder while a restore replaces something, so that an interrupted one is repeated before a start. */
export const UNFINISHED_RESTORE = 'restore-unfinished'

/**
 * Refuses to work on an installation whose restore was interrupted: a part of it is of the backup, a part of before.
 * @throws AppError with a text for the operator.
 */
async function assertNotRestoring({ dataFolder }: InstallationSettings): Promise<void> {
  const mark = join(dataFolder, UNFINISHED_RESTORE)
  const backup = await unlessMissing(readFile(mark, 'utf8'))
  if (backup !== null)
    throw new AppError(
      'conflict',
      `A restore of ${backup.trim()} was interrupted. Run \`nanoclaw restore ${backup.trim()}\` again; what it replaced is kept under names with .before-restore.`,
    )
}
