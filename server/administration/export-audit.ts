// The export of the audit log, which leaves an entry of its own.
import type { RecordAudit } from '../auth/audit-recorder.ts'
import type {
  AuditRepository,
  AuditRow,
  AuditSelection,
} from '../db/repositories/accounts/audit.ts'
import type { Actor } from '../protocol/admin/audit.ts'

/** Entries that are read at a time. */
const BATCH_SIZE = 500

/**
 * Adds the entry first.
 * @param record never rejects: the log can be read while nothing can be stored.
 * @returns the selected entries, newest first, in batches that are read as they are wanted.
 */
export async function exportAudit(
  { audit, record }: { audit: Pick<AuditRepository, 'list'>; record: RecordAudit },
  actor: Actor,
  selection: AuditSelection,
): Promise<AsyncGenerator<AuditRow[]>> {
  const { action, userId, from, to } = selection
  const details = {
    ...(action === undefined ? {} : { action }),
    ...(userId === undefined ? {} : { of_user: userId }),
    ...(from === undefined ? {} : { from: from.toISOString() }),
    ...(to === undefined ? {} : { to: to.toISOString() }),
  }
  await record({ ...actor, action: 'audit_exported', details: { ...details, ...actor.details } })
  return batchesOf(audit, selection)
}

async function* batchesOf(
  audit: Pick<AuditRepository, 'list'>,
  selection: AuditSelection,
): AsyncGenerator<AuditRow[]> {
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await audit.list(selection, { limit: BATCH_SIZE, cursor })
    yield items
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}
