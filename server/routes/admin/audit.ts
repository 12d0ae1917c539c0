// Routes for administrators: the audit log as a list and as a file.

import { Readable } from 'node:stream'
import type { z } from 'zod'
import { exportAudit } from '../../administration/export-audit.ts'
import type { AuditRow, AuditSelection } from '../../db/repositories/accounts/audit.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { AuditEntry, AuditFilter, AuditQuery } from '../../protocol/admin/audit.ts'
import { envelope, page } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { presentPage, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50

/** `/api/admin/audit`. */
export function registerAdminAuditRoutes(
  app: App,
  { store: { audit }, record }: Pick<Services, 'store' | 'record'>,
): void {
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
      config: { admin: true },
      schema: {
        summary: 'Export the audit log, one JSON object per line',
        querystring: AuditFilter,
      },
    },
    async (request, reply) => {
      const selection = selected(request.query)
      const batches = await exportAudit({ audit, record }, actorOf(request), selection)
      return reply
        .type('application/x-ndjson')
        .header('content-disposition', 'attachment; filename="audit.jsonl"')
        .send(Readable.from(linesOf(batches)))
    },
  )
}

async function* linesOf(batches: AsyncIterable<AuditRow[]>): AsyncGenerator<string> {
  for await (const rows of batches)
    if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(present(row))}\n`).join('')
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
