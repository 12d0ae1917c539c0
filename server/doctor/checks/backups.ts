// Checks that backups are made by themselves: whether the last one is recent, and whether another disk has them.
import { stat } from 'node:fs/promises'
import type { DatabaseSettings } from '../../db/database.ts'
import { inspectSetting } from '../../db/inspect.ts'
import { createBackupBucket } from '../../files/backup-bucket.ts'
import type { S3Settings } from '../../files/s3-client.ts'
import {
  BACKUPS_KEY,
  BackupRecord,
  type BackupSchedule,
  backupPlace,
} from '../../files/scheduled-backups.ts'
import { type Finding, fine } from '../finding.ts'
import { checkFolder } from './host.ts'

/** Names in a finding. */
const NAMED = 3
const MB = 1024 ** 2
const HOUR_MS = 3_600_000
/** With this many intervals since the last one, backups are late: one attempt may have failed. */
const LATE = 2

const shownTime = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`

/** When backups are made, and where they are copied to. */
export interface BackupSettings {
  /** Null if none are scheduled. */
  schedule: BackupSchedule | null
  /** Null if they are not copied to a bucket. */
  bucket: S3Settings | null
}

/** Read-only. */
export async function checkBackups(
  { schedule, bucket }: BackupSettings,
  database: DatabaseSettings,
  { dataDirectory, now = new Date() }: { dataDirectory: string; now?: Date },
): Promise<Finding[]> {
  const subject = 'backups'
  if (schedule === null)
    return [
      fine(
        'backups_off',
        subject,
        'none are made by themselves; `backup` in config.yml schedules them',
      ),
    ]
  const { folder, staysInFolder } = schedule
  const findings = [
    ...(staysInFolder ? await checkFolder('backup folder', folder) : []),
    ...(bucket === null ? await checkDisk(folder, dataDirectory) : await checkCopies(bucket)),
  ]
  let record: BackupRecord | null
  try {
    record = BackupRecord.safeParse(await inspectSetting(database, BACKUPS_KEY)).data ?? null
  } catch {
    return findings // the finding of the database says why
  }
  const last = record?.last ?? null
  if (record !== null && record.failure !== null) {
    const params = {
      folder: backupPlace(schedule),
      reason: record.failure,
      count: record.failures,
      last: last === null ? '–' : shownTime(last.at),
    }
    findings.push({
      state: 'fail',
      code: 'backups_failed',
      params,
      subject,
      detail: `the last ${params.count} failed (${params.reason}); the newest is of ${params.last}`,
      advice: `Make ${params.folder} usable: free space there, or set backup.to to another folder, or correct backup.s3. The server tries again by itself.`,
    })
  } else if (last === null)
    findings.push(
      fine(
        'backups_waiting',
        subject,
        `a running server writes the first one to ${backupPlace(schedule)}`,
        { folder: backupPlace(schedule) },
      ),
    )
  else findings.push(describeLast(last, schedule, now))
  return findings
}

/** What is said of the newest backup, if the newest attempt made it. */
function describeLast(
  last: NonNullable<BackupRecord['last']>,
  { everyMs }: BackupSchedule,
  now: Date,
): Finding {
  const subject = 'backups'
  const params = {
    folder: last.folder,
    last: shownTime(last.at),
    size: Math.ceil(last.bytes / MB),
    seconds: last.seconds,
  }
  if (now.getTime() - Date.parse(last.at) > LATE * everyMs) {
    const hours = Math.round((everyMs / HOUR_MS) * 10) / 10
    return {
      state: 'warn',
      code: 'backups_late',
      params: { ...params, hours },
      subject,
      detail: `the newest is of ${params.last}, though one is due every ${hours} hours`,
      advice: 'Backups are made while the server runs. If it does, its log says what hinders them.',
    }
  }
  const detail = `the newest is of ${params.last}, ${params.size} MB in ${params.seconds} s: ${params.folder}`
  if (last.missing.length === 0) return fine('backups_ok', subject, detail, params)
  const missing = last.missing.slice(0, NAMED).join('; ')
  return {
    state: 'warn',
    code: 'backups_incomplete',
    params: { ...params, missing },
    subject,
    detail: `${detail}; it lacks ${missing}`,
    advice:
      'Let the server read what it could not, or remove it. The next backup then is complete.',
  }
}

async function checkCopies(settings: S3Settings): Promise<Finding[]> {
  const bucket = createBackupBucket(settings)
  const reason = await bucket.check()
  if (reason === null) return []
  const params = { bucket: bucket.address, host: new URL(settings.endpoint).host, reason }
  return [
    {
      state: 'fail',
      code: 'backup_bucket_broken',
      params,
      subject: 'backups',
      detail: `the bucket ${params.bucket} at ${params.host} cannot be used: ${reason}`,
      advice: 'Check backup.s3: endpoint, bucket, region and both keys.',
    },
  ]
}

/** A disk that breaks takes with it what is only there. */
async function checkDisk(folder: string, dataDirectory: string): Promise<Finding[]> {
  const [backups, data] = await Promise.all(
    [folder, dataDirectory].map((path) => stat(path).catch(() => null)),
  )
  if (backups == null || data == null || backups.dev !== data.dev) return []
  return [
    {
      state: 'warn',
      code: 'backups_same_disk',
      params: { folder },
      subject: 'backup folder',
      detail: `${folder} is on the same disk as the data: if it breaks, both are lost`,
      advice:
        'Set backup.to to a folder of another disk or machine, or copy the backups elsewhere.',
    },
  ]
}
