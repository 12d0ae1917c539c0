// Checks that the blob store has every content that files refer to.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectBlobs, inspectDatabase } from '../db/inspect.ts'
import { errorText } from '../errors.ts'
import { blobPath, trashPath } from '../files/disk-blobs.ts'
import { createS3Blobs, type S3Settings } from '../files/s3-blobs.ts'
import { type Finding, fine } from './finding.ts'

const NAMED = 3

/** The place of blobs: the bucket, or the folder if there is none. */
export interface BlobPlace {
  folder: string
  s3: S3Settings | null
}

const isThere = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null)) !== null

/**
 * Returns no findings before the first start and before an upgrade. Faults of the database itself are reported elsewhere.
 */
export async function checkBlobs(
  settings: DatabaseSettings,
  { folder, s3 }: BlobPlace,
): Promise<Finding[]> {
  const subject = 'attached files'
  if (settings.dialect === 'sqlite' && !existsSync(resolve(settings.file))) return []
  const state = await inspectDatabase(settings).catch(() => null)
  if (state === null || state.isEmpty || state.pending > 0) return []
  try {
    const blobs = await inspectBlobs(settings)
    const missing: string[] = []
    const store = s3 === null ? null : createS3Blobs(s3, tmpdir())
    // Checked even without any blob, so that a wrong key or bucket is found.
    if (store !== null) await store.has('0'.repeat(64))
    const isStored = async (sha256: string): Promise<boolean> =>
      store === null
        ? (await isThere(blobPath(folder, sha256))) || (await isThere(trashPath(folder, sha256)))
        : await store.has(sha256)
    for (const sha256 of blobs) if (!(await isStored(sha256))) missing.push(sha256)
    if (missing.length === 0)
      return [fine('blobs_ok', subject, `${blobs.length}, all stored`, { count: blobs.length })]
    const place = s3 === null ? resolve(folder) : `the bucket ${s3.bucket}`
    const named = missing.slice(0, NAMED).join(', ')
    return [
      {
        state: 'warn',
        code: 'blobs_missing',
        params: {
          missing: missing.length,
          count: blobs.length,
          folder: s3?.bucket ?? resolve(folder),
          named,
        },
        subject,
        detail: `${missing.length} of ${blobs.length} are missing in ${place} (${named}${missing.length > NAMED ? ', …' : ''})`,
        advice:
          'Copy them from the folder <backup>.files of a backup. Until then, these attachments cannot be opened.',
      },
    ]
  } catch (error) {
    const reason = errorText(error)
    return [{ state: 'warn', code: 'blobs_unknown', params: { reason }, subject, detail: reason }]
  }
}
