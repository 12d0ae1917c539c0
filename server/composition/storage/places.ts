// The places of an installation's files, and the check that they belong to the database.
import { readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { connect } from '../../db/connect.ts'
import type { Database, DatabaseSettings, StoreLog } from '../../db/database.ts'
import { inspectSetting } from '../../db/inspect.ts'
import { NO_REFERENCES } from '../../db/repositories/installation.ts'
import { createStore } from '../../db/store.ts'
import { AppError } from '../../errors.ts'
import { blobPath, blobsIn } from '../../files/disk-blobs.ts'
import type { S3Blobs } from '../../files/s3-blobs.ts'
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
} from '../../owner/installation.ts'
import { blobFolder, databaseSettings, s3Settings } from '../settings.ts'

/** The places that the configuration names. */
export const installationPlaces = (config: Config): Place[] => [
  dataPlace(config),
  workspacePlace(config.workspace_root),
  ...(config.s3 === undefined ? [] : [bucketPlace(config)]),
]

/** Uploads and, by default, the database. The keys are of no use to find out whose folder it is. */
function dataPlace(config: Config): Place {
  const settings = databaseSettings(config)
  const hasBlobs = config.s3 === undefined
  const folder = resolve(config.data_dir)
  return {
    key: 'data_dir',
    ...folderMarker(folder),
    isReferred: ({ blobs }) => hasBlobs && blobs.length > 0,
    async contents(references): Promise<PlaceContents> {
      const contents = hasBlobs
        ? await contentsOf(blobsIn(blobFolder(config)), references.blobs, (sha256) =>
            exists(blobPath(blobFolder(config), sha256)),
          )
        : 'none'
      if (contents === 'known' || (contents === 'unknown' && references.blobs.length > 0))
        return contents
      // Only this database has been in this folder, whatever else is there.
      if (!references.isFresh && contains(folder, settings)) return 'known'
      const other = join(folder, 'nanoclaw.db')
      const isOther = settings.dialect === 'postgres' || resolve(settings.file) !== other
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
    yield* (await readdir(histories).catch(() => [])).filter(isIdName)
    yield* (await readdir(root).catch(() => [])).filter(isIdName)
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
function bucketPlace(config: Config): Place {
  const settings = s3Settings(config)
  if (settings === null) throw new Error('There is no bucket.')
  const open = async () => {
    const { createS3Blobs } = await import('../../files/s3-blobs.ts')
    return createS3Blobs(settings, tmpdir())
  }
  const name = `bucket ${settings.bucket}, prefix ${JSON.stringify(settings.prefix)}`
  const reach = <T>(work: (store: S3Blobs) => Promise<T>): Promise<T> =>
    open()
      .then(work)
      .catch(async (error: unknown) => {
        const { s3Cause } = await import('../../files/s3-blobs.ts')
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

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null)) !== null

const contains = (folder: string, settings: DatabaseSettings): boolean =>
  settings.dialect === 'sqlite' && relative(folder, dirname(resolve(settings.file))) === ''

/**
 * Refuses a SQLite database that does not exist yet if the places have files of another one: connecting would create it.
 * @throws AppError with a text for the operator.
 */
export async function assertMayCreate(config: Config): Promise<void> {
  await assertNotRestoring(config)
  const settings = databaseSettings(config)
  if (settings.dialect !== 'sqlite' || (await exists(resolve(settings.file)))) return
  const fault = await installationFault(installationPlaces(config), null, NO_REFERENCES)
  if (fault === null) return
  refuse({
    ...fault,
    detail: `The database ${resolve(settings.file)} does not exist, and a new one would not belong to these files: ${fault.detail}`,
    advice: `${fault.advice}, after \`nanoclaw migrate\` has created it`,
  })
}

/**
 * Ensures that the configured places belong to the open database, and marks them at the first start.
 * @throws AppError with a text for the operator.
 */
export async function assertInstallation(
  config: Config,
  database: Database,
  log: Pick<StoreLog, 'warn'>,
): Promise<void> {
  const { settings, installation } = createStore(database)
  await settleInstallation({
    settings,
    references: installation.references,
    places: installationPlaces(config),
    isShared: config.redis_url !== undefined,
    log,
  })
}

/** The id of the database; null if it has none yet or does not exist. Reads only. */
export async function idOfDatabase(config: Config): Promise<string | null> {
  const stored = await inspectSetting(databaseSettings(config), INSTALLATION_KEY)
  return InstallationId.safeParse(stored).data?.id ?? null
}

/**
 * After a restore: a backup brings the id of its installation. One of an earlier version has none; it takes the place of the
 * database that it replaced.
 * @param replaced the id of that database.
 * @returns why the next start is refused; null if it is not.
 */
export async function settleRestored(
  config: Config,
  replaced: string | null,
): Promise<PlaceFault | null> {
  const database = await connect(databaseSettings(config), { log: { info() {}, warn() {} } })
  try {
    const { settings, installation } = createStore(database)
    if (replaced !== null) await settings.putNew(INSTALLATION_KEY, { id: replaced })
    const places = installationPlaces(config)
    return await installationFault(
      places,
      await idOfDatabase(config),
      await installation.references(),
    )
  } finally {
    await database.close()
  }
}

/** The fault of a place that is marked as another database's, for commands that do not connect. Reads only. */
export async function markedElsewhere(config: Config): Promise<PlaceFault | null> {
  const id = await idOfDatabase(config)
  for (const place of installationPlaces(config)) {
    if ((await place.marker()) === null) continue
    const fault = await installationFault([place], id, NO_REFERENCES)
    if (fault !== null) return fault
  }
  return null
}

/** In `data_dir` while a restore replaces something, so that an interrupted one is repeated before a start. */
export const UNFINISHED_RESTORE = 'restore-unfinished'

/**
 * Refuses to work on an installation whose restore was interrupted: a part of it is of the backup, a part of before.
 * @throws AppError with a text for the operator.
 */
async function assertNotRestoring(config: Config): Promise<void> {
  const mark = join(config.data_dir, UNFINISHED_RESTORE)
  const backup = await readFile(mark, 'utf8').catch(() => null)
  if (backup !== null)
    throw new AppError(
      'conflict',
      `A restore of ${backup.trim()} was interrupted. Run \`nanoclaw restore ${backup.trim()}\` again; what it replaced is kept under names with .before-restore.`,
    )
}
