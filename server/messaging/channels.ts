// The channels of a user: create, list without secrets, remove, send.
import type { SecretBox } from '../auth/secret-box.ts'
import type {
  ChannelRepository,
  ChannelRow,
  DeliveryRow,
} from '../db/repositories/deliveries/channels.ts'
import { appError } from '../errors.ts'
import { deadline } from '../lib/abort.ts'
import { newId } from '../lib/ids.ts'
import type { Limits } from '../lib/limits.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import type { Channel, DeliveryStatus } from '../protocol/programs/channel.ts'
import type { ChannelKind } from './channel-kind.ts'
import { createOutbox, type Outbox } from './outbox.ts'

/** Pauses before the second, third … attempt. After the last one, the delivery has failed. */
const RETRY_PAUSES_SECONDS = [5, 30, 120, 600, 3_600]
const MAX_CHANNELS = 20
const MAX_PENDING_DELIVERIES = 100
/** How long a sender waits for the outcome of the first attempt. */
const FIRST_ATTEMPT_TIMEOUT_MS = 3_000
/** Binds sealed settings to channels: `SecretBox` opens a value only for the purpose it was sealed for. */
export const CHANNEL_SEAL_PURPOSE = 'channel'

/** The state of a message after its first attempt. */
export interface Delivery {
  id: string
  status: DeliveryStatus
  /** Why it is not delivered, or not yet; null if it is. */
  error: string | null
}

/** Tells the sender of a message that it was never delivered. */
export interface GivenUp {
  userId: UserId
  conversationId: ConversationId | null
  channel: string
  text: string
  error: string
}

/** The channels of users, and sending through them. */
export interface Channels {
  list(userId: UserId): Promise<Channel[]>
  /** Throws `validation_failed`, `name_taken` or `too_many_requests`. */
  create(
    userId: UserId,
    channel: { type: string; name: string; settings: unknown },
  ): Promise<Channel>
  /** Throws `not_found`. */
  remove(userId: UserId, id: string): Promise<void>
  /**
   * Stores the message, then waits at most a few seconds for the first attempt. Resolves to null if there is no channel
   * with this name. Throws `too_many_requests` if too many messages are pending, or too many were sent within the hour.
   */
  send(
    userId: UserId,
    name: string,
    message: { text: string; conversationId: ConversationId | null; signal: AbortSignal },
  ): Promise<Delivery | null>
  start(): void
  stop(): Promise<void>
}

/** The dependencies of channels. */
export interface ChannelsOptions {
  repository: ChannelRepository
  kinds: ReadonlyMap<string, ChannelKind>
  secrets: SecretBox
  isUniqueViolation(error: unknown): boolean
  /** Called when a message that was going to be retried has finally failed. */
  onGivenUp?(failure: GivenUp): Promise<unknown>
  now(): Date
  log: { warn(details: object, message: string): void }
  /** Maximum number of recipients per hour for all channels of a user. */
  messagesPerHour: number
  limits: Limits
  /** Counts messages against the user's quota before they are sent. Throws if it is used up. */
  takeMessages?(userId: UserId, count: number): Promise<void>
  /** Returns the addresses that may not receive email yet. By default, all may. */
  unconfirmed?(userId: UserId, addresses: readonly string[]): Promise<string[]>
  /** The pause between attempts, in milliseconds; for tests. */
  pauseMs?: number
}

const HOUR_MS = 60 * 60_000

/** Call `start` once, and `stop` before the store closes. */
export function createChannels(options: ChannelsOptions): Channels {
  const { repository, kinds, secrets } = options
  const settingsOf = (channel: ChannelRow): unknown =>
    JSON.parse(secrets.open(channel.sealedSettings, CHANNEL_SEAL_PURPOSE))
  // Not a count of stored deliveries, because recreating the channel removes these and would reset it.
  const allowance = options.limits.rateLimit('recipients', {
    limit: options.messagesPerHour,
    windowMs: HOUR_MS,
  })
  const recipientsOf = (channel: ChannelRow): number => {
    try {
      return kinds.get(channel.type)?.recipients(settingsOf(channel)) ?? 1
    } catch {
      // Sealed with a key that no longer exists. The delivery fails with this reason.
      return 1
    }
  }
  const outbox: Outbox = createOutbox<{ channel: ChannelRow; delivery: DeliveryRow }>({
    queue: repository,
    pausesSeconds: RETRY_PAUSES_SECONDS,
    pauseMs: options.pauseMs,
    now: options.now,
    log: options.log,
    async send({ channel, delivery }, signal) {
      const kind = kinds.get(channel.type)
      if (kind === undefined)
        return { ok: false, failure: storedFailure('delivery_channel_kind_gone'), retry: false }
      const { id, content: text, createdAt } = delivery
      const settings = settingsOf(channel)
      const [missing] =
        (await options.unconfirmed?.(channel.userId, kind.mailAddresses(settings))) ?? []
      if (missing !== undefined) {
        const failure = storedFailure('delivery_mail_unconfirmed', { address: missing })
        return { ok: false, failure, retry: false }
      }
      return await kind.send(settings, { id, channel: channel.name, text, createdAt }, signal)
    },
    onGivenUp: async ({ channel, delivery }, error) => {
      const { userId, conversationId, content: text } = delivery
      await options.onGivenUp?.({ userId, conversationId, channel: channel.name, text, error })
    },
  })

  const present = (channel: ChannelRow, last: Channel['last_delivery']): Channel => ({
    id: channel.id,
    type: channel.type,
    name: channel.name,
    settings: visibleSettings(channel),
    last_delivery: last,
    created_at: channel.createdAt.toISOString(),
  })

  const visibleSettings = (channel: ChannelRow): Record<string, string> => {
    try {
      return kinds.get(channel.type)?.present(settingsOf(channel)) ?? {}
    } catch {
      // Sealed with a key that no longer exists. The channel can still be listed and removed.
      return {}
    }
  }

  return {
    async list(userId) {
      const [channels, last] = await Promise.all([
        repository.list(userId),
        repository.lastDeliveries(userId),
      ])
      return channels.map((channel) => {
        const delivery = last.get(channel.id)
        return present(
          channel,
          delivery === undefined
            ? null
            : {
                status: delivery.status,
                attempts: delivery.attempts,
                error: delivery.lastError,
                reason: delivery.lastFailure?.reason ?? null,
                params: delivery.lastFailure?.params ?? null,
                created_at: delivery.createdAt.toISOString(),
              },
        )
      })
    },

    async create(userId, { type, name, settings }) {
      const kind = kinds.get(type)
      if (kind === undefined)
        throw appError('channel_type_unknown', { type, types: [...kinds.keys()] })
      kind.check(settings)
      const channel: ChannelRow = {
        id: newId(),
        userId,
        type,
        name,
        sealedSettings: secrets.seal(JSON.stringify(settings), CHANNEL_SEAL_PURPOSE),
        createdAt: options.now(),
      }
      let isStored: boolean
      try {
        isStored = await repository.insert(channel, MAX_CHANNELS)
      } catch (error) {
        if (!options.isUniqueViolation(error)) throw error
        throw appError('channel_name_taken', { name })
      }
      if (!isStored) throw appError('channels_exhausted', { limit: MAX_CHANNELS })
      return present(channel, null)
    },

    async remove(userId, id) {
      if (!(await repository.remove(userId, id))) throw appError('channel_not_found')
    },

    async send(userId, name, { text, conversationId, signal }) {
      const channel = await repository.findByName(userId, name)
      if (channel === undefined) return null
      const retryAfter = await allowance.take(userId, recipientsOf(channel))
      if (retryAfter !== null)
        throw appError(
          'recipients_exhausted',
          { limit: options.messagesPerHour, minutes: Math.ceil(retryAfter / 60) },
          { retryAfter },
        )
      await options.takeMessages?.(userId, recipientsOf(channel))
      const id = newId()
      const now = options.now()
      const cancel = new AbortController()
      const attempted = outbox.afterFirstAttempt(
        id,
        deadline(FIRST_ATTEMPT_TIMEOUT_MS, signal, cancel.signal),
      )
      const stored = await repository
        .enqueue(
          {
            id,
            userId,
            channelId: channel.id,
            conversationId,
            content: text,
            status: 'pending',
            attempts: 0,
            nextAttemptAt: now,
            lastError: null,
            lastFailure: null,
            createdAt: now,
          },
          MAX_PENDING_DELIVERIES,
        )
        .catch((error: unknown) => {
          cancel.abort()
          throw error
        })
      if (stored !== 'stored') cancel.abort()
      if (stored === 'no_channel') return null
      if (stored === 'full') throw appError('outbox_full', { limit: MAX_PENDING_DELIVERIES })
      outbox.wake()
      await attempted
      const delivery = await repository.findDelivery(id)
      return { id, status: delivery?.status ?? 'failed', error: delivery?.lastError ?? null }
    },

    start: () => outbox.start(),
    stop: () => outbox.stop(),
  }
}
