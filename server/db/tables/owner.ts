// The column of rows that belong to a user.
import type { UserId } from '../../protocol/ids.ts'
import type { AnyColumn, Columns } from '../columns/postgres.ts'

/** A new `user_id` column: its rows are deleted together with the user. */
export const ownedBy = (c: Columns, users: { id: AnyColumn }) =>
  c
    .key<UserId>('user_id')
    .notNull()
    .references((): AnyColumn => users.id, { onDelete: 'cascade' })
