// The table through which several instances agree on who does what.
import type { Columns } from '../../columns/postgres.ts'

/** With one instance, it stays empty. */
export function defineLeaseTables(c: Columns) {
  /** Rights that one instance holds at a time, until a time of the database's clock. */
  const leases = c.table('leases', {
    name: c.text('name').primaryKey(),
    /** The id of the instance that holds it. */
    owner: c.text('owner').notNull(),
    expiresAt: c.time('expires_at').notNull(),
  })

  return { leases }
}
