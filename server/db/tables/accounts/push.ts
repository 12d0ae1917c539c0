// Browsers that receive push notifications of a user.
import type { Columns } from '../../columns/postgres.ts'
import { ownedBy } from '../owner.ts'
import type { defineAccountTables } from './accounts.ts'
import type { defineSessionTables } from './sessions.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineSessionTables>, 'sessions'>

/** Defines `pushSubscriptions`. */
export function definePushTables(c: Columns, { users, sessions }: Accounts) {
  const pushSubscriptions = c.table(
    'push_subscriptions',
    {
      /** The hash of `endpoint`: a browser has one subscription, whoever is signed in there. */
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      /** Signing out ends the subscription. Null for a program, or where nobody signs in. */
      sessionId: c.text('session_id').references(() => sessions.id, { onDelete: 'cascade' }),
      endpoint: c.text('endpoint').notNull(),
      p256dh: c.text('p256dh').notNull(),
      auth: c.text('auth').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.index('push_subscriptions_user').on(t.userId, t.createdAt, t.id),
      c.index('push_subscriptions_session').on(t.sessionId),
    ],
  )
  return { pushSubscriptions }
}
