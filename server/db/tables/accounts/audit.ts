// The table of the audit log. Its rows are never updated; they outlive the accounts that they name.

import type { AuditAction, AuditDetails } from '../../../protocol/admin/audit.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'

/** Defines `auditEntries`. */
export const defineAuditTables = (c: Columns) => ({
  auditEntries: c.table(
    'audit_entries',
    {
      id: c.text('id').primaryKey(),
      at: c.time('at').notNull(),
      action: c.choice<AuditAction>('action').notNull(),
      userId: c.key<UserId>('user_id'),
      username: c.text('username'),
      address: c.text('address'),
      details: c.json<AuditDetails>('details').notNull(),
    },
    (t) => [
      c.index('audit_entries_at').on(t.at, t.id),
      c.index('audit_entries_user').on(t.userId, t.at, t.id),
      c.index('audit_entries_action').on(t.action, t.at, t.id),
    ],
  ),
})
