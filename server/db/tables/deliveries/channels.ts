// Tables of channels, and of the messages that wait for delivery to them.
import { sql } from 'drizzle-orm'
import type { StoredFailure } from '../../../protocol/failures/stored.ts'
import type { ConversationId } from '../../../protocol/ids.ts'
import type { ReceiveSettings, ReceiveState } from '../../../protocol/programs/channel.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'
import { deliveryColumns } from './delivery.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'>

/** `deliveries` is the outbox of `channels`; webhooks have their own. */
export function defineChannelTables(c: Columns, { users }: Accounts) {
  const channels = c.table(
    'channels',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      type: c.text('type').notNull(),
      name: c.text('name').notNull(),
      sealedSettings: c.text('sealed_settings').notNull(),
      createdAt: c.time('created_at').notNull(),
      /** How it receives; null: it only sends. */
      receive: c.json<ReceiveSettings>('receive'),
      /** The state of receiving; null before it has begun. */
      state: c.choice<Exclude<ReceiveState, 'off'>>('state'),
      /** Why it does not receive. */
      fault: c.json<StoredFailure>('fault'),
      /** Up to where the messenger's messages are stored, in the form of its kind. */
      place: c.text('place'),
      /** The hash of the token with which a program hands over messages. */
      tokenHash: c.text('token_hash'),
      /** What makes the address of a channel that receives mail its own. */
      addressToken: c.text('address_token'),
      /** Identifies the bot while the channel receives, so that only one channel does. */
      botHash: c.text('bot_hash'),
    },
    (t) => [
      c.uniqueIndex('channels_user_name').on(t.userId, t.name),
      c.uniqueIndex('channels_bot').on(t.botHash).where(sql`${t.botHash} is not null`),
    ],
  )

  const deliveries = c.table(
    'deliveries',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      channelId: c
        .text('channel_id')
        .notNull()
        .references(() => channels.id, { onDelete: 'cascade' }),
      /** The conversation that the message came from, if any; it may be deleted. */
      conversationId: c.key<ConversationId>('conversation_id'),
      ...deliveryColumns(c),
    },
    (t) => [
      c.index('deliveries_due').on(t.status, t.nextAttemptAt),
      c.index('deliveries_channel').on(t.channelId),
    ],
  )

  return { channels, deliveries }
}
