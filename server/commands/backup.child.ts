// The worker thread that makes a scheduled backup: copying the database and hashing take long, and would hold up the server.
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { errorText } from '../errors.ts'
import type { MadeBackup } from '../files/scheduled-backups.ts'
import { serveRequests } from '../lib/worker-server.ts'
import { writeBackup } from './backup.ts'

/** Which backup to make. */
export interface BackupRequest {
  config: Config
  /** A folder that does not exist yet. */
  folder: string
  keys: SecretKeySources
}
/** The backup, or a text for the operator that says why there is none. */
export type BackupReply = MadeBackup | { fault: string }

serveRequests(async ({ config, folder, keys }: BackupRequest): Promise<BackupReply> => {
  try {
    const { bytes, missing } = await writeBackup(config, folder, keys)
    return { bytes, missing }
  } catch (error) {
    return { fault: errorText(error) }
  }
})
