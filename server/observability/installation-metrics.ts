// Prometheus metrics of the installation, read on each scrape: free space, webhooks that fail, the last backup.
import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'

/** A database that does not answer must not take the other metrics with it. */
const READ_MS = 3_000

/** What the metrics are read from. */
export interface MeasuredInstallation {
  /** Folders that the server writes to, by the value of the label. */
  folders: Readonly<Record<string, string>>
  /** Webhooks that are on and fail. */
  failingWebhooks(): Promise<number>
  /** When the newest complete backup was made; null if none is known. */
  lastBackup(): Promise<Date | null>
  /** Seconds between scheduled backups; 0 if none are scheduled. */
  backupEvery: number
  /** Attempts in a row that made no scheduled backup. */
  failedBackups(): Promise<number>
}

/** Adds the gauges. One that cannot be read is NaN. Instances that share a database give the same numbers of it. */
export function addInstallationMetrics(
  registry: Registry,
  { folders, failingWebhooks, lastBackup, backupEvery, failedBackups }: MeasuredInstallation,
): void {
  const registers = [registry]
  new Gauge({
    name: 'nanoclaw_free_bytes',
    help: 'Free space where a folder of the server is: data (data_dir), workspaces (workspace_root) or backups (backup.to).',
    labelNames: ['folder'],
    registers,
    async collect() {
      for (const [folder, path] of Object.entries(folders))
        this.set({ folder }, await orNaN(freeBytes(path)))
    },
  })
  new Gauge({
    name: 'nanoclaw_failing_webhooks',
    help: 'Webhooks that are on and did not take the last event that was sent to them.',
    registers,
    async collect() {
      this.set(await orNaN(failingWebhooks()))
    },
  })
  new Gauge({
    name: 'nanoclaw_last_backup_timestamp_seconds',
    help: 'When the last complete backup was made, scheduled or by `nanoclaw backup`, by the audit log; 0 if there is none.',
    registers,
    async collect() {
      const seconds = async () => ((await lastBackup())?.getTime() ?? 0) / 1_000
      this.set(await orNaN(seconds()))
    },
  })
  new Gauge({
    name: 'nanoclaw_backup_interval_seconds',
    help: 'Time between scheduled backups (backup.every); 0 if none are scheduled.',
    registers,
  }).set(backupEvery)
  new Gauge({
    name: 'nanoclaw_failed_backups',
    help: 'Attempts in a row that made no scheduled backup; 0 after one that did.',
    registers,
    async collect() {
      this.set(await orNaN(failedBackups()))
    },
  })
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** The number; NaN, which alert rules can ask for, if it cannot be read in time. */
async function orNaN(read: Promise<number>): Promise<number> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<number>((resolve) => {
    timer = setTimeout(resolve, READ_MS, Number.NaN)
  })
  try {
    return await Promise.race([read, late])
  } catch {
    return Number.NaN
  } finally {
    clearTimeout(timer)
  }
}
