// The people at messengers, as the owner of a channel sees them: listed, paired by code, blocked, removed.
import type { Database } from '../db/database.ts'
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { SenderRow } from '../db/repositories/deliveries/receiving.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { Limits } from '../lib/limits.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'
import { hashCode, lockSenders } from './pairing.ts'
import { isOpenTo } from './permission.ts'

/** What managing senders needs. */
export interface SenderDependencies {
  database: Database
  store: Pick<Store, 'receiving' | 'audit' | 'users'>
  limits: Limits
  now(): Date
  announce(userId: UserId, change: Change): void
  /** The channel of a user. @throws AppError `channel_not_found`. */
  findChannel(userId: UserId, id: string): Promise<ChannelRow>
}

/** The senders of channels. */
export type Senders = ReturnType<typeof createSenders>

/** Create one per process. */
export function createSenders(dependencies: SenderDependencies) {
  const parts = senderParts(dependencies)
  return {
    ...pairing(dependencies, parts),
    ...knownSenders(dependencies, parts),
  }
}

/** Audit entries and news of senders. */
function senderParts(dependencies: SenderDependencies) {
  const { now, announce } = dependencies
  const changed = ({ userId, id }: ChannelRow): void =>
    announce(userId, { type: 'channel', id, change: 'updated' })
  const audited = (
    action: 'sender_allowed' | 'sender_blocked',
    channel: ChannelRow,
    sender: SenderRow,
    /** How they got in. */
    by?: 'code' | 'owner',
  ) => ({
    action,
    at: now(),
    details: {
      id: channel.id,
      channel: channel.name,
      sender: sender.externalId,
      name: sender.name,
      ...(by === undefined ? {} : { by }),
    },
  })

  return { changed, audited }
}

type SenderParts = ReturnType<typeof senderParts>

/** How a sender becomes a user. */
function pairing(dependencies: SenderDependencies, { changed, audited }: SenderParts) {
  const { database, store, limits, now } = dependencies
  return {
    /**
     * The sender with this code acts as the user from now on.
     * @throws AppError `code_unknown`, or `too_many_requests` after too many wrong codes.
     */
    async pair(
      userId: UserId,
      code: string,
      actor: Actor,
    ): Promise<{ sender: SenderRow; channel: ChannelRow }> {
      const key = `pairing ${userId}`
      const attempt = await limits.attempts.begin(key, key)
      if ('retryAfterSeconds' in attempt)
        throw appError('codes_exhausted', {}, { retryAfter: attempt.retryAfterSeconds })
      const paired = await database
        .write(async (tx) => {
          const codeHash = hashCode(code)
          const pending = await store.receiving.findByCode(tx, codeHash, now())
          if (pending === undefined) return null
          await lockSenders(tx, pending.channelId)
          // Read under the lock: a code works once, also when two people type it in at the same moment.
          const found = await store.receiving.findByCode(tx, codeHash, now())
          if (found === undefined) return null
          const channel = await store.receiving.channel(found.channelId, tx)
          if (channel === undefined || channel.receive === null) return null
          if (!(await isOpenTo(channel, userId, store))) return null
          const sender = await store.receiving.changeSender(tx, channel.id, found.id, {
            userId,
            state: 'allowed',
            codeHash: null,
            codeExpiresAt: null,
            toldAt: null,
            allowedAt: now(),
          })
          if (sender === undefined) return null
          await store.audit.record(tx, actor, audited('sender_allowed', channel, sender, 'code'))
          return { sender, channel }
        })
        .catch((error: unknown) => {
          attempt.withdraw()
          throw error
        })
      if (paired === null) {
        attempt.failed()
        throw appError('code_unknown')
      }
      attempt.succeeded()
      changed(paired.channel)
      return paired
    },
  }
}

/** Senders of a channel. */
function knownSenders(dependencies: SenderDependencies, { changed, audited }: SenderParts) {
  const { database, store, now, findChannel } = dependencies
  return {
    /** The senders of a user's channel, newest first. */
    async list(
      userId: UserId,
      channelId: string,
      page: { limit: number; cursor?: string | undefined },
    ) {
      const channel = await findChannel(userId, channelId)
      return await store.receiving.senders(channel.id, page)
    },

    /**
     * Blocks a sender, or lets them write: without a code only as the owner of the channel, who sees who they are.
     * @throws AppError `sender_not_found`, or `sender_not_paired` where only a code lets somebody in.
     */
    async set(
      userId: UserId,
      channelId: string,
      senderId: string,
      state: 'allowed' | 'blocked',
      actor: Actor,
    ): Promise<SenderRow> {
      const channel = await findChannel(userId, channelId)
      const found = await store.receiving.findSender(channel.id, senderId)
      if (found === undefined) throw appError('sender_not_found')
      const owner = channel.receive?.shared === true ? null : channel.userId
      const actsAs = found.userId ?? owner
      // Whoever writes by email proves the address with the code that is sent to it: the mailbox is the user's own.
      const isProven = found.userId !== null || channel.type !== 'email'
      if (state === 'allowed' && (actsAs === null || !isProven)) throw appError('sender_not_paired')
      const sender = await database.write(async (tx) => {
        const row = await store.receiving.changeSender(tx, channel.id, found.id, {
          state,
          codeHash: null,
          codeExpiresAt: null,
          ...(state === 'allowed' ? { userId: actsAs, allowedAt: now() } : {}),
        })
        if (row === undefined) throw appError('sender_not_found')
        await store.audit.record(
          tx,
          actor,
          state === 'allowed'
            ? audited('sender_allowed', channel, row, 'owner')
            : audited('sender_blocked', channel, row),
        )
        return row
      })
      changed(channel)
      return sender
    },

    /** Forgets a sender, who is a stranger again. @throws AppError `sender_not_found`. */
    async remove(userId: UserId, channelId: string, senderId: string, actor: Actor): Promise<void> {
      const channel = await findChannel(userId, channelId)
      await database.write(async (tx) => {
        const row = await store.receiving.removeSender(tx, channel.id, senderId)
        if (row === undefined) throw appError('sender_not_found')
        if (row.state === 'allowed')
          await store.audit.record(tx, actor, audited('sender_blocked', channel, row))
      })
      changed(channel)
    },
  }
}
