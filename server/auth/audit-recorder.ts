// Stores entries of the audit log. If an entry cannot be stored, the request still succeeds, and the log reports it.
import type { StoreLog } from '../db/database.ts'
import type { AuditRepository, AuditRow } from '../db/repositories/accounts/audit.ts'

/** Adds an entry to the audit log. */
export type RecordAudit = (entry: Omit<AuditRow, 'id' | 'at'>) => Promise<void>

/** Never rejects; logs entries that cannot be stored. */
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
