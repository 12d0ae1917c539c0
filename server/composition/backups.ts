// Scheduled backups as configured: made and copied by a worker thread; administrators are told by email that they begin to fail.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { EmailLinks } from '../auth/email-links.ts'
import type { BackupReply, BackupRequest } from '../commands/backup.child.ts'
import { inspectSize } from '../db/inspect.ts'
import {
  BACKUP_SERIES,
  type BackupSchedule,
  backupPlace,
  type MadeBackup,
  scheduleBackups,
} from '../files/scheduled-backups.ts'
import { newId } from '../lib/ids.ts'
import { createWorkerClient } from '../lib/worker-client.ts'
import { createMailer, mayReceive } from '../messaging/mailer.ts'
import type { Base } from './base.ts'
import { backupBucket, backupSchedule, databaseSettings } from './settings.ts'

const START_TIMEOUT_MS = 60_000
/** No backup takes that long; the thread of one that hangs must end. */
const LONGEST_MS = 24 * 3_600_000
/** The manifest of a backup is in memory: some hundred bytes for each file. */
const MAX_HEAP_MB = 1_024
const MAIL_TIMEOUT_MS = 20_000
/** Administrators who are told. */
const TOLD = 100

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
      tellFailure: (reason) => tellAdministrators(base, emailLinks, { schedule, reason }),
      clock,
      log,
    })
}

/**
 * Begins the names of the backups of this installation, which may share their folder with others: also with the one whose backup
 * was restored here, which has the same id and goes on.
 */
const backupPrefix = (installationId: string, series: string): string =>
  `nanoclaw-${createHash('sha256')
    .update(installationId + series)
    .digest('hex')
    .slice(0, 8)}-`

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

/** One email to each administrator with a confirmed address, if there is a mail server. */
async function tellAdministrators(
  { config, store, log }: Pick<Base, 'config' | 'store' | 'log'>,
  emailLinks: Pick<EmailLinks, 'unconfirmed'>,
  { schedule, reason }: { schedule: BackupSchedule; reason: string },
): Promise<void> {
  const { smtp, public_url: url } = config
  if (smtp === undefined) return
  try {
    const { items } = await store.users.list({ limit: TOLD, role: 'admin', isActive: true })
    const send = createMailer(smtp)
    for (const { id, email } of items) {
      if (email === null || !mayReceive(email, smtp)) continue
      // Without accounts, nobody else can have given the address.
      const unconfirmed =
        config.auth_mode === 'multi' ? await emailLinks.unconfirmed(id, [email]) : []
      if (unconfirmed.length > 0) continue
      const sent = await send(
        {
          id: newId(),
          to: [email],
          subject: 'NanoClaw: the scheduled backup failed',
          text: `${[
            `The scheduled backup to ${backupPlace(schedule)} failed: ${reason.replace(/\.$/, '')}.`,
            'The server tries again by itself, and sends no further email until a backup has succeeded.',
            'Administration → Server → Health, and `nanoclaw doctor`, say how backups are now.',
            ...(url === undefined ? [] : [url]),
          ].join('\n\n')}\n`,
        },
        AbortSignal.timeout(MAIL_TIMEOUT_MS),
      )
      if (!sent.ok) log.warn({ reason: sent.failure.reason }, 'an administrator was not told')
    }
  } catch (error) {
    log.warn({ err: error }, 'the administrators could not be told that the backup failed')
  }
}
