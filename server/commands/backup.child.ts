// The worker thread that makes a scheduled backup and copies it to a bucket: both take long, and would hold up the server.
import { basename } from 'node:path'
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { errorText } from '../errors.ts'
import { createBackupBucket } from '../files/backup-bucket.ts'
import type { S3Settings } from '../files/s3-client.ts'
import type { MadeBackup } from '../files/scheduled-backups.ts'
import { serveRequests } from '../lib/worker-server.ts'
import { writeBackup } from './backup.ts'

/** Which backup to make, in a folder that does not exist yet. */
interface WriteBackup {
  config: Config
  folder: string
  keys: SecretKeySources
}
/** Which backup to copy, and how many stay of those whose names begin with `prefix`. */
interface CopyBackup {
  bucket: S3Settings
  folder: string
  prefix: string
  keep: number
}
export type BackupRequest = WriteBackup | CopyBackup
/** The backup (of a copy: null), or a text for the operator that says why there is none. */
export type BackupReply = MadeBackup | null | { fault: string }

serveRequests(async (request: BackupRequest): Promise<BackupReply> => {
  try {
    if ('bucket' in request) {
      const { bucket, folder, prefix, keep } = request
      const backups = createBackupBucket(bucket)
      await backups.put(folder, basename(folder))
      await backups.prune(prefix.replace(/-$/, ''), keep)
      return null
    }
    const { bytes, missing } = await writeBackup(request.config, request.folder, request.keys)
    return { bytes, missing }
  } catch (error) {
    return { fault: errorText(error) }
  }
})
