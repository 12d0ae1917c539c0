// Stores entries of the audit log. A request does not fail when its entry cannot be stored; the log says so.
import type { StoreLog } from '../db/database.ts'
import type { AuditRepository, AuditRow } from '../db/repositories/accounts/audit.ts'

/** Adds an entry to the audit log. */
export type RecordAudit = (entry: Omit<AuditRow, 'id' | 'at'>) => Promise<void>

/** Never rejects: what cannot be stored is logged instead. */
export const createAuditRecorder =
  (
    audit: AuditRepository,
    { log, now }: { log: Pick<StoreLog, 'warn'>; now: () => Date },
  ): RecordAudit =>
  async (entry) => {
    try {
      await audit.add({ ...entry, at: now() })
    } catch (error) {
      log.warn(
        { err: error, action: entry.action },
        'an entry of the audit log could not be stored',
      )
    }
  }
