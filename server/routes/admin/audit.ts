// Routes for administrators: the audit log as a list and as a file.
import { Readable } from 'node:stream'
import type { z } from 'zod'
import type {
  AuditRepository,
  AuditRow,
  AuditSelection,
} from '../../db/repositories/accounts/audit.ts'
import type { App } from '../../http/app.ts'
import { AuditEntry, AuditFilter, AuditQuery } from '../../protocol/admin/audit.ts'
import { envelope, page } from '../../protocol/envelope.ts'
import { presentPage, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50
/** Entries that an export reads at a time. */
const EXPORT_BATCH_SIZE = 500

/** `/api/admin/audit`. */
export function registerAdminAuditRoutes(app: App, { audit }: { audit: AuditRepository }): void {
  app.get(
    '/api/admin/audit',
    {
      config: { admin: true },
      schema: {
        summary: 'List the audit log, newest first',
        querystring: AuditQuery,
        response: { 200: envelope(page(AuditEntry)) },
      },
    },
    async ({ query: { limit = DEFAULT_LIMIT, cursor, ...filter } }) => {
      const found = await audit.list(selected(filter), { limit, cursor })
      return success(presentPage(found, present))
    },
  )

  app.get(
    '/api/admin/audit/file',
    {
      config: { admin: true, audit: { action: 'audit_exported' } },
      schema: {
        summary: 'Export the audit log, one JSON object per line',
        querystring: AuditFilter,
      },
    },
    async ({ query }, reply) =>
      reply
        .type('application/x-ndjson')
        .header('content-disposition', 'attachment; filename="audit.jsonl"')
        .send(Readable.from(linesOf(audit, selected(query)))),
  )
}

async function* linesOf(audit: AuditRepository, selection: AuditSelection): AsyncGenerator<string> {
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await audit.list(selection, { limit: EXPORT_BATCH_SIZE, cursor })
    if (items.length > 0) yield items.map((row) => `${JSON.stringify(present(row))}\n`).join('')
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}

const selected = ({ action, user_id, from, to }: z.output<typeof AuditFilter>): AuditSelection => ({
  action,
  userId: user_id,
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
})

const present = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  action: row.action,
  user_id: row.userId,
  username: row.username,
  address: row.address,
  details: row.details,
})
