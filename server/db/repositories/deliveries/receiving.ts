// What people write at messengers: senders, chats, and messages that came in; each message is stored once.
import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  or,
  sql,
} from 'drizzle-orm'
import type { Page } from '../../../protocol/envelope.ts'
import type { ConversationId, RunId, UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { afterMoment } from '../../fragments.ts'
import type { IncomingState } from '../../tables/deliveries/receiving.ts'
import type { ChannelRow } from './channels.ts'

/** A row of `senders`. */
export type SenderRow = Database['tables']['senders']['$inferSelect']
/** A row of `chats`. */
export type ChatRow = Database['tables']['chats']['$inferSelect']
/** A row of `incoming_messages`. */
export type IncomingRow = Database['tables']['incomingMessages']['$inferSelect']
/** A chat with its channel. */
export interface ChatPlace {
  chat: ChatRow
  channel: ChannelRow
  /** Whether the account as which its person acts is active. */
  isActive: boolean
}

const OPEN: IncomingState[] = ['waiting', 'starting', 'running']

/** Stores what people write at messengers. Uses the tables `channels`, `senders`, `chats` and `incomingMessages`. */
export function createReceivingRepository(database: Database) {
  const { read, tables } = database
  const { channels, users } = tables

  return {
    /** All channels that receive, whose owners are active. */
    async receiving(): Promise<ChannelRow[]> {
      const rows = await read
        .select({ channel: channels })
        .from(channels)
        .innerJoin(users, eq(users.id, channels.userId))
        .where(and(isNotNull(channels.receive), eq(users.isActive, true)))
      return rows.map(({ channel }) => channel)
    },

    async channel(id: string, from: Reader = read): Promise<ChannelRow | undefined> {
      const [row] = await from.select().from(channels).where(eq(channels.id, id))
      return row
    },

    /** Changes a channel; undefined if it is gone. */
    async changeChannel(
      tx: Writer,
      id: string,
      change: Partial<Omit<ChannelRow, 'id' | 'userId' | 'createdAt'>>,
    ): Promise<ChannelRow | undefined> {
      const [row] = await tx.update(channels).set(change).where(eq(channels.id, id)).returning()
      return row
    },

    async findByToken(id: string, tokenHash: string): Promise<ChannelRow | undefined> {
      const [row] = await read
        .select({ channel: channels })
        .from(channels)
        .innerJoin(users, eq(users.id, channels.userId))
        .where(
          and(
            eq(channels.id, id),
            eq(channels.tokenHash, tokenHash),
            isNotNull(channels.receive),
            eq(users.isActive, true),
          ),
        )
      return row?.channel
    },

    ...createSenders(database),
    ...createChats(database),
    ...createIncoming(database),
  }
}

/** The people at messengers. */
function createSenders(database: Database) {
  return {
    ...pairing(database),
    ...knownSenders(database),
  }
}

/** Senders who are not paired yet. */
function pairing({ tables }: Database) {
  const { senders } = tables
  return {
    /** The sender with this valid code. */
    async findByCode(tx: Reader, codeHash: string, at: Date): Promise<SenderRow | undefined> {
      const [row] = await tx
        .select()
        .from(senders)
        .where(
          and(
            eq(senders.codeHash, codeHash),
            eq(senders.state, 'pending'),
            gt(senders.codeExpiresAt, at),
          ),
        )
      return row
    },

    /** How many strangers have a valid code, without this one. */
    async countPending(tx: Reader, channelId: string, exceptId: string, at: Date): Promise<number> {
      const [row] = await tx
        .select({ pending: count() })
        .from(senders)
        .where(
          and(
            eq(senders.channelId, channelId),
            eq(senders.state, 'pending'),
            gt(senders.codeExpiresAt, at),
            ne(senders.id, exceptId),
          ),
        )
      return row?.pending ?? 0
    },

    /** Removes strangers whose code has expired and who are told nothing until `toldBefore`. */
    async removeExpired(tx: Writer, toldBefore: Date): Promise<void> {
      await tx
        .delete(senders)
        .where(
          and(
            eq(senders.state, 'pending'),
            lt(senders.codeExpiresAt, toldBefore),
            or(isNull(senders.toldAt), lt(senders.toldAt, toldBefore)),
          ),
        )
    },
  }
}

/** Senders, by their channel. */
function knownSenders({ read, tables }: Database) {
  const { senders, users } = tables
  const ofChannel = (channelId: string, id: string) =>
    and(eq(senders.channelId, channelId), eq(senders.id, id))

  return {
    async sender(tx: Reader, channelId: string, externalId: string) {
      const [row] = await tx
        .select({ sender: senders, isActive: users.isActive })
        .from(senders)
        .leftJoin(users, eq(users.id, senders.userId))
        .where(and(eq(senders.channelId, channelId), eq(senders.externalId, externalId)))
      return row === undefined ? undefined : { ...row.sender, isActive: row.isActive ?? false }
    },

    async findSender(
      channelId: string,
      id: string,
      from: Reader = read,
    ): Promise<SenderRow | undefined> {
      const [row] = await from.select().from(senders).where(ofChannel(channelId, id))
      return row
    },

    async addSender(tx: Writer, row: SenderRow): Promise<void> {
      await tx.insert(senders).values(row).onConflictDoNothing()
    },

    async changeSender(
      tx: Writer,
      channelId: string,
      id: string,
      change: Partial<Omit<SenderRow, 'id' | 'channelId' | 'externalId'>>,
    ): Promise<SenderRow | undefined> {
      const [row] = await tx.update(senders).set(change).where(ofChannel(channelId, id)).returning()
      return row
    },

    async removeSender(tx: Writer, channelId: string, id: string): Promise<SenderRow | undefined> {
      const [row] = await tx.delete(senders).where(ofChannel(channelId, id)).returning()
      return row
    },

    /** The senders of a channel, newest first. */
    async senders(
      channelId: string,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<SenderRow>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const rows = await read
        .select()
        .from(senders)
        .where(
          and(
            eq(senders.channelId, channelId),
            moment === undefined || id === undefined
              ? undefined
              : afterMoment(senders.requestedAt, senders.id, new Date(moment), id),
          ),
        )
        .orderBy(desc(senders.requestedAt), desc(senders.id))
        .limit(limit + 1)
      return toPage(rows, limit, (last) => [last.requestedAt.getTime(), last.id])
    },
  }
}

/** Chats, one for each person who acts in it and thread. */
function createChats(database: Database) {
  return {
    ...findChats(database),
    ...changeChats(database),
  }
}

/** Chats, by what is known of them. */
function findChats({ read, tables }: Database) {
  const { channels, chats, incomingMessages: incoming, senders, users } = tables
  /** A sender who may write, acts as the person of the chat and has written in it. */
  const hasAllowed = sql`exists (select 1 from ${senders} as s where s.channel_id = ${chats.channelId} and s.user_id = ${chats.userId} and s.state = 'allowed' and (s.external_id = ${chats.externalId} or exists (select 1 from ${incoming} as m where m.chat_id = ${chats.id} and m.sender_id = s.id)))`
  return {
    /** Any person's view of a chat. */
    async anyChat(
      tx: Reader,
      channelId: string,
      { externalId, threadId }: Pick<ChatRow, 'externalId' | 'threadId'>,
    ): Promise<ChatRow | undefined> {
      const [row] = await tx
        .select()
        .from(chats)
        .where(
          and(
            eq(chats.channelId, channelId),
            eq(chats.externalId, externalId),
            eq(chats.threadId, threadId),
          ),
        )
        .orderBy(asc(chats.createdAt))
        .limit(1)
      return row
    },

    async chat(id: string, from: Reader = read): Promise<ChatPlace | undefined> {
      const [row] = await from
        .select({ chat: chats, channel: channels, isActive: users.isActive })
        .from(chats)
        .innerJoin(channels, eq(channels.id, chats.channelId))
        .innerJoin(users, eq(users.id, chats.userId))
        .where(eq(chats.id, id))
      return row
    },

    /** The chat to which a conversation belongs. */
    async chatOf(conversationId: ConversationId): Promise<ChatPlace | undefined> {
      const [row] = await read
        .select({ chat: chats, channel: channels, isActive: users.isActive })
        .from(chats)
        .innerJoin(channels, eq(channels.id, chats.channelId))
        .innerJoin(users, eq(users.id, chats.userId))
        .where(eq(chats.conversationId, conversationId))
        .limit(1)
      return row
    },

    /** The chat from which a run came that has not ended. */
    async chatOfRun(runId: RunId): Promise<ChatPlace | undefined> {
      const [row] = await read
        .select({ chat: chats, channel: channels, isActive: users.isActive })
        .from(incoming)
        .innerJoin(chats, eq(chats.id, incoming.chatId))
        .innerJoin(channels, eq(channels.id, chats.channelId))
        .innerJoin(users, eq(users.id, chats.userId))
        // Those that have not ended are few, and have an index.
        .where(and(inArray(incoming.state, OPEN), eq(incoming.runId, runId)))
        .limit(1)
      return row
    },

    /** Whether the chat still belongs to somebody who may write, as an account that is active. */
    async isOfAllowed(id: string, from: Reader = read): Promise<boolean> {
      const [row] = await from
        .select({ id: chats.id })
        .from(chats)
        .innerJoin(users, eq(users.id, chats.userId))
        .where(and(eq(chats.id, id), eq(users.isActive, true), hasAllowed))
      return row !== undefined
    },

    /** The newest private chat of a person, who may write, with the bot of a channel. */
    async privateChat(channelId: string, userId: UserId): Promise<ChatRow | undefined> {
      const [row] = await read
        .select()
        .from(chats)
        .where(
          and(
            eq(chats.channelId, channelId),
            eq(chats.userId, userId),
            eq(chats.isPrivate, true),
            hasAllowed,
          ),
        )
        .orderBy(desc(chats.createdAt))
        .limit(1)
      return row
    },

    /** Chats that show what a run does. */
    async chatsWithProgress(): Promise<string[]> {
      const rows = await read
        .select({ id: chats.id })
        .from(chats)
        .where(isNotNull(chats.progressId))
      return rows.map(({ id }) => id)
    },
  }
}

/** Chats as they are first seen, and what changes about them. */
function changeChats({ tables }: Database) {
  const { chats } = tables
  return {
    /** The chat, made if there is none. */
    async ensureChat(tx: Writer, row: ChatRow): Promise<ChatRow> {
      const isThis = and(
        eq(chats.channelId, row.channelId),
        eq(chats.externalId, row.externalId),
        eq(chats.threadId, row.threadId),
        eq(chats.userId, row.userId),
      )
      const [known] = await tx.select().from(chats).where(isThis)
      if (known !== undefined) return known
      await tx.insert(chats).values(row).onConflictDoNothing()
      const [stored] = await tx.select().from(chats).where(isThis)
      if (stored === undefined) throw new Error('A chat was not stored.')
      return stored
    },

    async changeChat(
      tx: Writer,
      id: string,
      change: Partial<Omit<ChatRow, 'id' | 'channelId' | 'userId'>>,
    ): Promise<void> {
      await tx.update(chats).set(change).where(eq(chats.id, id))
    },
  }
}

/** Messages that came in, in the order of their arrival. */
function createIncoming(database: Database) {
  return {
    ...incomingMessages(database),
    ...overheardMessages(database),
  }
}

/** Messages as they arrive and are worked on. */
function incomingMessages({ read, tables }: Database) {
  const { incomingMessages: incoming } = tables
  const isOpen = inArray(incoming.state, OPEN)
  return {
    /** Whether a message is known. */
    async isKnown(tx: Reader, channelId: string, externalId: string): Promise<boolean> {
      const [row] = await tx
        .select({ position: incoming.position })
        .from(incoming)
        .where(and(eq(incoming.channelId, channelId), eq(incoming.externalId, externalId)))
      return row !== undefined
    },

    /** Stores a message; false if it is stored already. */
    async addIncoming(
      tx: Writer,
      row: Omit<IncomingRow, 'position' | 'turnId' | 'runId' | 'startedAt' | 'conversationId'>,
    ): Promise<boolean> {
      const added = await tx
        .insert(incoming)
        .values(row)
        .onConflictDoNothing({ target: [incoming.channelId, incoming.externalId] })
        .returning({ position: incoming.position })
      return added.length > 0
    },

    /** What has not ended in a chat, in order. */
    async openMessages(chatId: string, from: Reader = read): Promise<IncomingRow[]> {
      return await from
        .select()
        .from(incoming)
        .where(and(eq(incoming.chatId, chatId), isOpen))
        .orderBy(asc(incoming.position))
    },

    /** The newest message of a chat, as the messenger identifies it; null if there is none. */
    async newestId(chatId: string): Promise<string | null> {
      const [row] = await read
        .select({ id: incoming.externalId })
        .from(incoming)
        .where(and(eq(incoming.chatId, chatId), ne(incoming.kind, 'overheard')))
        .orderBy(desc(incoming.position))
        .limit(1)
      return row?.id ?? null
    },

    /** Chats in which something has not ended. */
    async openChats(): Promise<string[]> {
      const rows = await read.selectDistinct({ id: incoming.chatId }).from(incoming).where(isOpen)
      return rows.map(({ id }) => id)
    },

    /** A message, if it is still known. */
    async incoming(position: number, from: Reader = read): Promise<IncomingRow | undefined> {
      const [row] = await from.select().from(incoming).where(eq(incoming.position, position))
      return row
    },

    /** Changes messages that are still in one of these states; returns those that changed. */
    async changeIncoming(
      tx: Writer,
      positions: readonly number[],
      from: readonly IncomingState[],
      change: Partial<Omit<IncomingRow, 'position' | 'channelId' | 'externalId'>>,
    ): Promise<IncomingRow[]> {
      if (positions.length === 0) return []
      return await tx
        .update(incoming)
        .set(change)
        .where(and(inArray(incoming.position, [...positions]), inArray(incoming.state, [...from])))
        .returning()
    },
  }
}

/** Messages that start nothing, and the removal of old ones. */
function overheardMessages({ tables }: Database) {
  const { chats, incomingMessages: incoming } = tables
  return {
    /** Messages of a group that start nothing, newest `limit`, oldest first, and marks all of them as used. */
    async takeOverheard(
      tx: Writer,
      { channelId, externalId, threadId }: ChatRow,
      since: Date,
      limit: number,
    ): Promise<IncomingRow[]> {
      const ofChat = tx
        .select({ id: chats.id })
        .from(chats)
        .where(
          and(
            eq(chats.channelId, channelId),
            eq(chats.externalId, externalId),
            eq(chats.threadId, threadId),
          ),
        )
      const isOverheard = and(
        eq(incoming.kind, 'overheard'),
        eq(incoming.state, 'done'),
        isNotNull(incoming.content),
        inArray(incoming.chatId, ofChat),
      )
      const rows = await tx
        .select()
        .from(incoming)
        .where(and(isOverheard, gte(incoming.createdAt, since)))
        .orderBy(desc(incoming.position))
        .limit(limit)
      await tx.update(incoming).set({ content: null }).where(isOverheard)
      return rows.toReversed()
    },

    /** Removes what was only overheard in a chat, but the newest `kept`. */
    async removeOverheard(tx: Writer, chatId: string, kept: number): Promise<void> {
      const ofChat = and(eq(incoming.chatId, chatId), eq(incoming.kind, 'overheard'))
      const [oldest] = await tx
        .select({ position: incoming.position })
        .from(incoming)
        .where(ofChat)
        .orderBy(desc(incoming.position))
        .offset(kept - 1)
        .limit(1)
      if (oldest !== undefined)
        await tx.delete(incoming).where(and(ofChat, lt(incoming.position, oldest.position)))
    },

    /** How many runs a sender has started since. */
    async turnsSince(tx: Reader, senderId: string, since: Date): Promise<number> {
      const [row] = await tx
        .select({ turns: sql<number>`count(distinct ${incoming.turnId})`.mapWith(Number) })
        .from(incoming)
        .where(and(eq(incoming.senderId, senderId), gte(incoming.startedAt, since)))
      return row?.turns ?? 0
    },

    /** Forgets what ended before `known`, but not that a sender wrote in a chat, and what was only overheard before `overheard`. */
    async removeOldIncoming(tx: Writer, before: { known: Date; overheard: Date }): Promise<void> {
      await tx
        .update(incoming)
        .set({ content: null })
        .where(
          and(
            eq(incoming.kind, 'overheard'),
            isNotNull(incoming.content),
            lt(incoming.createdAt, before.overheard),
          ),
        )
      await tx
        .delete(incoming)
        .where(
          and(
            lt(incoming.createdAt, before.known),
            or(eq(incoming.state, 'done'), eq(incoming.state, 'dropped')),
            or(
              isNull(incoming.senderId),
              sql`exists (select 1 from ${incoming} as later where later.chat_id = ${incoming.chatId} and later.sender_id = ${incoming.senderId} and later.position > ${incoming.position})`,
            ),
          ),
        )
    },
  }
}
