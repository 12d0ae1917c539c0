// Tables of what people write at messengers: who they are, their chats, what came in, and what goes out to the chats.
import { sql } from 'drizzle-orm'
import type { ConversationId, RunId, UserId } from '../../../protocol/ids.ts'
import type { SenderState } from '../../../protocol/programs/channel.ts'
import type { AnyColumn, Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import type { defineConversationTables } from '../conversations/conversations.ts'
import { ownedBy } from '../owner.ts'
import type { defineChannelTables } from './channels.ts'
import { deliveryColumns } from './delivery.ts'

type Needed = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineChannelTables>, 'channels'> &
  Pick<ReturnType<typeof defineConversationTables>, 'conversations'>

/** What a message does. `overheard`: it starts nothing and is given with the next one that does. */
export type IncomingKind = 'message' | 'command' | 'decision' | 'overheard'
/** `dropped`: its sender or chat has reached a limit. */
export type IncomingState = 'waiting' | 'starting' | 'running' | 'done' | 'dropped'

const ofChannel = (c: Columns, channels: Needed['channels']) =>
  c
    .text('channel_id')
    .notNull()
    .references((): AnyColumn => channels.id, { onDelete: 'cascade' })

/** Who writes through a channel, before and after they are paired with an account. */
const defineSenders = (c: Columns, { users, channels }: Pick<Needed, 'users' | 'channels'>) =>
  c.table(
    'senders',
    {
      id: c.text('id').primaryKey(),
      channelId: ofChannel(c, channels),
      /** The account as which they act; null before they are paired. */
      userId: c
        .key<UserId>('user_id')
        .references((): AnyColumn => users.id, { onDelete: 'cascade' }),
      externalId: c.text('external_id').notNull(),
      name: c.text('name').notNull(),
      state: c.choice<SenderState>('state').notNull(),
      /** The hash of their pairing code, while there is one. */
      codeHash: c.text('code_hash'),
      codeExpiresAt: c.time('code_expires_at'),
      /** When they were last told a code, or that they have reached a limit. */
      toldAt: c.time('told_at'),
      /** Hashes of what they wrote before they were paired: it starts nothing, also if it comes again. */
      seen: c.json<string[]>('seen'),
      requestedAt: c.time('requested_at').notNull(),
      allowedAt: c.time('allowed_at'),
      lastAt: c.time('last_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('senders_external').on(t.channelId, t.externalId),
      c.uniqueIndex('senders_code').on(t.codeHash).where(sql`${t.codeHash} is not null`),
      c.index('senders_list').on(t.channelId, t.requestedAt, t.id),
      c.index('senders_user').on(t.userId),
    ],
  )

/** Where they write: each chat and thread of a person has its conversation. */
const defineChats = (c: Columns, { users, channels, conversations }: Needed) =>
  c.table(
    'chats',
    {
      id: c.text('id').primaryKey(),
      channelId: ofChannel(c, channels),
      userId: ownedBy(c, users),
      externalId: c.text('external_id').notNull(),
      /** Empty for a chat without threads. */
      threadId: c.text('thread_id').notNull(),
      name: c.text('name').notNull(),
      isPrivate: c.boolean('is_private').notNull(),
      conversationId: c
        .key<ConversationId>('conversation_id')
        .references((): AnyColumn => conversations.id, { onDelete: 'set null' }),
      /** What a person has chosen for the next conversation (`ChatChoice`). */
      choice: c.json<unknown>('choice'),
      /** Whether the person was told that the queue is full. */
      isFullTold: c.boolean('is_full_told').notNull(),
      /** The message that says what the run does; null if there is none. */
      progressId: c.text('progress_id'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('chats_external').on(t.channelId, t.externalId, t.threadId, t.userId),
      c.index('chats_conversation').on(t.conversationId),
      c.index('chats_user').on(t.userId),
    ],
  )

/** All of them are deleted with their channel, and with the account as which a sender acts. */
export function defineReceivingTables(c: Columns, { users, channels, conversations }: Needed) {
  const senders = defineSenders(c, { users, channels })

  const chats = defineChats(c, { users, channels, conversations })
  const ofChat = () =>
    c
      .text('chat_id')
      .notNull()
      .references((): AnyColumn => chats.id, { onDelete: 'cascade' })

  const incomingMessages = c.table(
    'incoming_messages',
    {
      position: c.counter('position'),
      channelId: ofChannel(c, channels),
      externalId: c.text('external_id').notNull(),
      chatId: ofChat(),
      senderId: c
        .text('sender_id')
        .references((): AnyColumn => senders.id, { onDelete: 'cascade' }),
      kind: c.choice<IncomingKind>('kind').notNull(),
      state: c.choice<IncomingState>('state').notNull(),
      /** What was written (`IncomingContent`); null once it is in its conversation. */
      content: c.json<unknown>('content'),
      /** The conversation for which it waits, if the chat has begun another one meanwhile. */
      conversationId: c.key<ConversationId>('conversation_id'),
      /** What it was merged into: the same for all messages of one run. */
      turnId: c.text('turn_id'),
      runId: c.key<RunId>('run_id'),
      startedAt: c.time('started_at'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('incoming_messages_external').on(t.channelId, t.externalId),
      c.index('incoming_messages_chat').on(t.chatId, t.position),
      c
        .index('incoming_messages_open')
        .on(t.chatId)
        .where(sql`${t.state} in ('waiting', 'starting', 'running')`),
      c.index('incoming_messages_age').on(t.createdAt),
      c.index('incoming_messages_sender').on(t.senderId, t.startedAt),
    ],
  )

  const outgoingParts = c.table(
    'outgoing_parts',
    {
      /** In this order they reach their chat. */
      position: c.counter('position'),
      id: c.text('id').notNull(),
      chatId: ofChat(),
      /** What it is about, once per chat; null for what may be said again. */
      reference: c.text('reference'),
      /** The message at the messenger, once it is there. */
      externalId: c.text('external_id'),
      leasedUntil: c.time('leased_until'),
      ...deliveryColumns(c),
    },
    (t) => [
      c.uniqueIndex('outgoing_parts_id').on(t.id),
      c
        .uniqueIndex('outgoing_parts_reference')
        .on(t.chatId, t.reference)
        .where(sql`${t.reference} is not null`),
      c.index('outgoing_parts_chat').on(t.chatId, t.position),
      c.index('outgoing_parts_due').on(t.nextAttemptAt).where(sql`${t.status} = 'pending'`),
      c.index('outgoing_parts_age').on(t.createdAt),
    ],
  )

  return { senders, chats, incomingMessages, outgoingParts }
}
