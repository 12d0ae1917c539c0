// Where a database last had its attached files, a bucket or the data folder: a start with another place that lacks some of them
// is refused.
import { z } from 'zod'
import type { StoreLog } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { Blob } from '../files/blobs.ts'
import { createTurns } from '../lib/turns.ts'
import { ADOPT, type Place, type PlaceFault } from './installation.ts'

/** The key of the place among the server's settings. */
const FILES_KEY = 'installation_files'
/** The data folder, wherever that is, or a bucket. */
const Whereabouts = z.object({
  bucket: z.object({ endpoint: z.string(), bucket: z.string(), prefix: z.string() }).nullable(),
})
type Whereabouts = z.infer<typeof Whereabouts>
type Settings = Pick<Store['settings'], 'get' | 'store'>

/** The place where a configuration has the attached files. */
export interface FilesPlace {
  place: Pick<Place, 'key' | 'name' | 'marker'>
  /** Null for the data folder. */
  bucket: Whereabouts['bucket']
  /** The contents that are there, also those in the trash, from which one returns when it is needed. */
  contents(): AsyncIterable<Pick<Blob, 'sha256'>>
}

/** Names a bucket for the operator. */
export const bucketName = ({ bucket, prefix }: { bucket: string; prefix: string }): string =>
  `bucket ${bucket}, prefix ${JSON.stringify(prefix)}`

const isSame = (one: Whereabouts['bucket'], other: Whereabouts['bucket']): boolean =>
  one === null || other === null
    ? one === other
    : one.bucket === other.bucket &&
      one.prefix === other.prefix &&
      one.endpoint.replace(/\/+$/, '') === other.endpoint.replace(/\/+$/, '')

/**
 * The fault of a place other than the one where the database last had its files; null if it has them all, and if it belongs to
 * another database, which is a fault of its own. Reads only, and reads the whole place only if it is another one.
 * @param options.read reads one of the server's settings.
 * @param options.id the installation of the database; null if it has none yet.
 * @param options.wanted the blobs that the database refers to.
 */
export async function filesFault(
  { place, bucket, contents }: FilesPlace,
  {
    read,
    id,
    wanted,
  }: {
    read(key: string): Promise<unknown>
    id(): Promise<string | null>
    wanted(): Promise<readonly string[]>
  },
): Promise<PlaceFault | null> {
  const last = Whereabouts.safeParse(await read(FILES_KEY)).data
  if (last === undefined || isSame(last.bucket, bucket)) return null
  const marker = await place.marker()
  if (marker !== null && marker !== (await id())) return null
  const referred = await wanted()
  if (referred.length === 0) return null
  const lacking = new Set(referred)
  const turn = createTurns()
  for await (const { sha256 } of contents()) {
    lacking.delete(sha256)
    await turn()
  }
  if (lacking.size === 0) return null
  const there = last.bucket === null ? 'data_dir' : `s3 (${bucketName(last.bucket)})`
  const way = last.bucket === null ? 'Remove s3 from the configuration' : 'Set s3 to that bucket'
  return {
    detail: `${place.key} (${place.name}) contains ${referred.length - lacking.size} of the ${referred.length} attached files of this database, which were last in ${there}`,
    advice: `${way}. To move the files: \`nanoclaw backup\` with the former configuration, then \`nanoclaw restore\` with this one. To do without the others: ${ADOPT}`,
  }
}

/** Remembers that the database has its files there from now on. */
export async function rememberFilesPlace(
  { bucket }: Pick<FilesPlace, 'bucket'>,
  settings: Settings,
  log: Pick<StoreLog, 'warn'>,
): Promise<void> {
  try {
    const last = await settings.get(FILES_KEY, Whereabouts)
    if (last === undefined || !isSame(last.bucket, bucket))
      await settings.store(FILES_KEY, { bucket })
  } catch (error) {
    // On a full disk, the server starts for deletions.
    log.warn({ err: error }, 'where the attached files are could not be stored')
  }
}
