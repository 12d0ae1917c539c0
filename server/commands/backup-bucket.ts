// `nanoclaw restore --bucket`: the backups that are in a bucket.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { backupBucket } from '../config/settings.ts'
import { AppError } from '../errors.ts'
import { type BackupBucket, createBackupBucket } from '../files/backup-bucket.ts'
import { UNFINISHED_RESTORE } from '../owner/places.ts'
import { type BackupResult, restore } from './backup.ts'

function bucketOf(config: Config): BackupBucket {
  const settings = backupBucket(config)
  if (settings === null)
    throw new AppError('conflict', 'No bucket is configured: set backup.s3 in config.yml.')
  return createBackupBucket(settings)
}

/** The lines that list them, newest first. @throws AppError with a text for the operator. */
export async function bucketBackups(config: Config): Promise<string[]> {
  const bucket = bucketOf(config)
  const backups = await bucket.list()
  if (backups.length === 0) return [`${bucket.address} has no backups.`]
  return [
    ...backups.map(({ name, isComplete }) => (isComplete ? name : `${name} (incomplete)`)),
    'Restore one of them with `nanoclaw restore --bucket <name>`.',
  ]
}

/**
 * Downloads a backup into `data_dir` and restores it from there. The copy is removed, unless the restore was interrupted and has to
 * be repeated with it.
 * @throws AppError with a text for the operator; nothing was restored then.
 */
export async function restoreFromBucket(
  config: Config,
  name: string,
  options: { keys: SecretKeySources; isPartial: boolean },
): Promise<BackupResult> {
  const folder = join(config.data_dir, 'downloaded-backup')
  await rm(folder, { recursive: true, force: true })
  try {
    await bucketOf(config).fetch(name, folder)
    return await restore(config, folder, options)
  } finally {
    if (!existsSync(join(config.data_dir, UNFINISHED_RESTORE)))
      await rm(folder, { recursive: true, force: true })
  }
}
