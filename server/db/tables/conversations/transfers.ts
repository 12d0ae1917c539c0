// The table of exports and imports: jobs in the background, with their progress and result.
import { sql } from 'drizzle-orm'
import type {
  ImportFormat,
  ImportReport,
  TransferStatus,
} from '../../../protocol/conversations/transfer.ts'
import type { StoredFailure } from '../../../protocol/failures/stored.ts'
import type { TransferId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'

/** Defines `transfers`. */
export function defineTransferTables(
  c: Columns,
  { users }: Pick<ReturnType<typeof defineAccountTables>, 'users'>,
) {
  const transfers = c.table(
    'transfers',
    {
      id: c.key<TransferId>('id').primaryKey(),
      userId: ownedBy(c, users),
      kind: c.choice<'export' | 'import'>('kind').notNull(),
      status: c.choice<TransferStatus>('status').notNull(),
      /** The name of an import's file. */
      name: c.text('name'),
      format: c.choice<ImportFormat>('format'),
      /** How much of `total` is done: conversations of an export, bytes of an import. */
      done: c.bigInteger('done').notNull(),
      total: c.bigInteger('total').notNull(),
      /** Bytes of a finished export. */
      size: c.bigInteger('size'),
      report: c.json<ImportReport>('report'),
      failure: c.json<StoredFailure>('failure'),
      createdAt: c.time('created_at').notNull(),
      endedAt: c.time('ended_at'),
    },
    (t) => [
      c.index('transfers_user').on(t.userId, t.kind, t.createdAt),
      c.index('transfers_unfinished').on(t.createdAt).where(sql`${t.endedAt} is null`),
      c.index('transfers_ended').on(t.endedAt).where(sql`${t.endedAt} is not null`),
    ],
  )
  return { transfers }
}
