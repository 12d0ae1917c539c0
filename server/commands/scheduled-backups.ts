// The backups that a server makes by itself: made and copied by a worker thread, as the commands do.
import { z } from 'zod'
import { tellBackupFailure } from '../administration/backup-failure.ts'
import type { EmailLinks } from '../auth/email-links.ts'
import type { Base } from '../composition/base.ts'
import { backupBucket, backupSchedule, databaseSettings } from '../config/settings.ts'
import { inspectSize } from '../db/inspect.ts'
import {
  BACKUP_SERIES,
  backupPlace,
  backupPrefix,
  type MadeBackup,
  scheduleBackups,
} from '../files/scheduled-backups.ts'
import { createWorkerClient } from '../lib/worker-client.ts'
import type { BackupReply, BackupRequest } from './backup.child.ts'

const START_TIMEOUT_MS = 60_000
/** No backup takes that long; the thread of one that hangs must end. */
const LONGEST_MS = 24 * 3_600_000
/** The manifest of a backup is in memory: some hundred bytes for each file. */
const MAX_HEAP_MB = 1_024

/** Work for the leading instance; null without `backup` in the configuration. */
export async function createBackups(
  base: Base,
  emailLinks: Pick<EmailLinks, 'unconfirmed'>,
  installationId: string,
): Promise<(() => () => Promise<void>) | null> {
  const { config, store, secretKeys, clock, log } = base
  const schedule = backupSchedule(config)
  if (schedule === null) return null
  const series = (await store.settings.get(BACKUP_SERIES, z.string())) ?? ''
  const bucket = backupBucket(config)
  const prefix = backupPrefix(installationId, series)
  return () =>
    scheduleBackups({
      schedule,
      prefix,
      store,
      async makeBackup(folder, signal) {
        const made = await inThread({ config, folder, keys: secretKeys }, signal)
        if (made === null) throw new Error('a backup without a result')
        return made
      },
      async copyToBucket(folder, signal) {
        if (bucket !== null) await inThread({ bucket, folder, prefix, keep: schedule.keep }, signal)
      },
      databaseBytes: () => inspectSize(databaseSettings(config)),
      tellFailure: (reason) =>
        tellBackupFailure(
          { place: backupPlace(schedule), reason },
          {
            store,
            smtp: config.smtp,
            publicUrl: config.public_url,
            // Without accounts, nobody else can have given the address.
            unconfirmed: config.auth_mode === 'multi' ? emailLinks.unconfirmed : async () => [],
            log,
          },
        ),
      clock,
      log,
    })
}

/** In a thread of its own, which ends when the signal is aborted. */
async function inThread(request: BackupRequest, signal: AbortSignal): Promise<MadeBackup | null> {
  const thread = createWorkerClient<BackupRequest, BackupReply>('commands/backup.child', {
    worker: { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } },
    startTimeoutMs: START_TIMEOUT_MS,
    idleMs: 1_000,
    timeoutError: () => new Error('The backup took longer than a day'),
  })
  try {
    const reply = await thread.request(request, { timeoutMs: LONGEST_MS, signal })
    if (reply !== null && 'fault' in reply) throw new Error(reply.fault)
    return reply
  } finally {
    await thread.close()
  }
}
