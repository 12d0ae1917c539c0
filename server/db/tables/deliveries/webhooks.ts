// Tables of webhooks: where events of a user are sent, and the events that wait for it.
import type { WebhookEventType } from '../../../protocol/programs/webhook.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'
import { deliveryColumns } from './delivery.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'>

/** Defines `webhooks` and `webhookDeliveries`. */
export function defineWebhookTables(c: Columns, { users }: Accounts) {
  const webhooks = c.table(
    'webhooks',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      url: c.text('url').notNull(),
      /** The events that it receives. */
      events: c.json<WebhookEventType[]>('events').notNull(),
      sealedSecret: c.text('sealed_secret').notNull(),
      /** The secret before it was replaced: requests are signed with it too, until `earlierUntil`. */
      sealedEarlierSecret: c.text('sealed_earlier_secret'),
      earlierUntil: c.time('earlier_until'),
      isActive: c.boolean('is_active').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [c.index('webhooks_user').on(t.userId, t.createdAt, t.id)],
  )

  const webhookDeliveries = c.table(
    'webhook_deliveries',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      webhookId: c
        .text('webhook_id')
        .notNull()
        .references(() => webhooks.id, { onDelete: 'cascade' }),
      event: c.text('event').notNull(),
      /** What happened: a webhook receives it once, however often it is recorded. */
      occurrence: c.text('occurrence').notNull(),
      ...deliveryColumns(c),
    },
    (t) => [
      c.index('webhook_deliveries_due').on(t.status, t.nextAttemptAt),
      c.index('webhook_deliveries_newest').on(t.webhookId, t.createdAt, t.id),
      c.index('webhook_deliveries_user').on(t.userId),
      c.uniqueIndex('webhook_deliveries_once').on(t.webhookId, t.occurrence),
    ],
  )

  return { webhooks, webhookDeliveries }
}
