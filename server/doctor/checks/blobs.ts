// Checks that what the database refers to exists: contents of files, folders of projects, and the key of its secrets.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { DatabaseSettings } from '../../db/database.ts'
import { inspectBlobs, inspectDatabase, inspectProjects } from '../../db/inspect.ts'
import { errorText } from '../../errors.ts'
import { blobPath, trashPath } from '../../files/disk-blobs.ts'
import { createS3Blobs } from '../../files/s3-blobs.ts'
import type { S3Settings } from '../../files/s3-client.ts'
import { unlessMissing } from '../../lib/system-faults.ts'
import { type Finding, fine } from '../finding.ts'

const NAMED = 3

/** The place of blobs: the bucket, or the folder if there is none. */
export interface BlobPlace {
  folder: string
  s3: S3Settings | null
}

const isThere = async (path: string): Promise<boolean> => (await unlessMissing(stat(path))) !== null

/**
 * Returns no findings of contents before the first start and before an upgrade. Faults of the database itself are reported
 * elsewhere.
 */
export async function checkBlobs(
  settings: DatabaseSettings,
  { folder, s3 }: BlobPlace,
): Promise<Finding[]> {
  const subject = 'attached files'
  const store = s3 === null ? null : createS3Blobs(s3, tmpdir())
  // Checked even without any blob, so that a wrong key or bucket is found.
  const fault = (await store?.check()) ?? null
  if (s3 !== null && fault !== null) return [bucketBroken(s3, fault)]
  if (!(await isReadable(settings))) return []
  try {
    const blobs = await inspectBlobs(settings)
    const missing: string[] = []
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
          'Copy them from the folder `files` of a backup. Until then, these attachments cannot be opened.',
      },
    ]
  } catch (error) {
    const reason = errorText(error)
    return [{ state: 'warn', code: 'blobs_unknown', params: { reason }, subject, detail: reason }]
  }
}

function bucketBroken({ endpoint, bucket }: S3Settings, reason: string): Finding {
  const { host } = new URL(endpoint)
  return {
    state: 'fail',
    code: 'bucket_broken',
    params: { bucket, host, reason },
    subject: 'attached files',
    detail: `the bucket ${bucket} at ${host} cannot be used: ${reason}`,
    advice:
      'Check s3.endpoint, bucket, region and both keys. Until then, files can be neither attached nor opened.',
  }
}

async function isReadable(settings: DatabaseSettings): Promise<boolean> {
  if (settings.dialect === 'sqlite' && !existsSync(resolve(settings.file))) return false
  const state = await inspectDatabase(settings).catch(() => null)
  return state !== null && !state.isEmpty && state.pending === 0
}

/** Compares the projects of the database with the folders. Returns no findings where `checkBlobs` returns none. */
export async function checkProjects(
  settings: DatabaseSettings,
  workspaceRoot: string,
): Promise<Finding[]> {
  const subject = 'projects'
  if (!(await isReadable(settings))) return []
  try {
    const projects = await inspectProjects(settings)
    const missing: string[] = []
    for (const { id, user } of projects)
      if (!existsSync(join(workspaceRoot, user, id))) missing.push(id)
    const count = projects.length
    if (missing.length === 0)
      return [fine('projects_ok', subject, `${count} with files, all have their folder`, { count })]
    const named = missing.slice(0, NAMED).join(', ')
    const folder = resolve(workspaceRoot)
    return [
      {
        state: 'warn',
        code: 'projects_missing',
        params: { missing: missing.length, count, folder, named },
        subject,
        detail: `${missing.length} of ${count} have no folder in ${folder} (${named}${missing.length > NAMED ? ', …' : ''})`,
        advice: 'Check workspace_root, or restore a backup that contains the projects.',
      },
    ]
  } catch (error) {
    const reason = errorText(error)
    return [
      { state: 'warn', code: 'projects_unknown', params: { reason }, subject, detail: reason },
    ]
  }
}

/** Tries to open some secrets of each kind. Returns no findings where `checkBlobs` returns none. */
export async function checkSecrets(
  settings: DatabaseSettings,
  inspect: () => Promise<{ tried: number; unreadable: readonly string[] }>,
): Promise<Finding[]> {
  const subject = 'stored secrets'
  if (!(await isReadable(settings))) return []
  try {
    const { tried, unreadable } = await inspect()
    const kinds = unreadable.join(', ')
    if (unreadable.length === 0)
      return [fine('secrets_ok', subject, `${tried} tried, all can be opened`, { count: tried })]
    return [
      {
        state: 'fail',
        code: 'secrets_unreadable',
        params: { kinds },
        subject,
        detail: `not all can be opened with the secret key: ${kinds}`,
        advice:
          'Put the key of the backup into secret.key in data_dir (several keys may stand there, one a line), or set NANOCLAW_SECRET_KEY to it.',
      },
    ]
  } catch (error) {
    const reason = errorText(error)
    return [{ state: 'warn', code: 'secrets_unknown', params: { reason }, subject, detail: reason }]
  }
}
