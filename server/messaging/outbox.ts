// Messages waiting for delivery: stored first, sent in the background, and retried with growing pauses, even after a
// restart.

import type { ChannelRepository, ChannelRow, DeliveryRow } from '../db/repositories/channels.ts'
import { errorText } from '../errors.ts'
import { onAbort } from '../lib/abort.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import type { ChannelKind, SendOutcome } from './channel-kind.ts'

/** Pauses before the second, third … attempt; after the last one the delivery has failed. */
const RETRY_PAUSES_SECONDS = [5, 30, 120, 600, 3_600]
/** Longer than any attempt may take. After this time, another process takes over a delivery whose sender died. */
const LEASE_MS = 120_000
const SEND_TIMEOUT_MS = 60_000
const BATCH_SIZE = 8
/** Maximum time between checks for messages that other processes stored or left behind. */
const MAX_SLEEP_MS = 30_000
const SETTLED_RETENTION_MS = 7 * 24 * 3_600_000
const PURGE_BATCH_SIZE = 500

export interface Outbox {
  /** Call it when a message was stored: checks at once. */
  wake(): void
  /** Starts delivering; returns at once. */
  start(): void
  /** Aborts the attempts in progress (they are repeated after the next start) and stops. */
  stop(): Promise<void>
  /** Resolves when the first attempt of this delivery has ended or the signal is aborted. Never rejects. */
  afterFirstAttempt(deliveryId: string, signal: AbortSignal): Promise<void>
}

/** What the sender needs to know. */
export interface GivenUp {
  userId: UserId
  conversationId: ConversationId | null
  channel: string
  text: string
  error: string
}

export interface OutboxOptions {
  repository: ChannelRepository
  kinds: ReadonlyMap<string, ChannelKind>
  /** The settings of a channel, unsealed. Throws when they cannot be read. */
  settingsOf(channel: ChannelRow): unknown
  /** Called when a message that was going to be retried has finally failed. */
  onGivenUp?(failure: GivenUp): Promise<unknown>
  now(): Date
  log: { warn(details: object, message: string): void }
  /** For tests: replaces the pauses, in milliseconds. */
  pauseMs?: number
}

/** Creates the sender of one process. Several processes on one database share the work without sending twice. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { repository, kinds } = options
  const controller = new AbortController()
  /** Callbacks by delivery id, called after its next attempt. */
  const waiting = new Map<string, Set<() => void>>()
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | null = null
  let again = false

  const attempt = async (channel: ChannelRow, delivery: DeliveryRow): Promise<SendOutcome> => {
    const kind = kinds.get(channel.type)
    if (kind === undefined)
      return { ok: false, failure: storedFailure('delivery_channel_kind_gone'), retry: false }
    try {
      return await kind.send(
        options.settingsOf(channel),
        {
          id: delivery.id,
          channel: channel.name,
          text: delivery.content,
          createdAt: delivery.createdAt,
        },
        AbortSignal.any([controller.signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]),
      )
    } catch (error) {
      options.log.warn(
        { channel: channel.type, cause: errorText(error) },
        'a delivery failed with an unexpected error',
      )
      return { ok: false, failure: storedFailure('delivery_failed'), retry: true }
    }
  }

  const report = async (
    channel: ChannelRow,
    delivery: DeliveryRow,
    error: string,
  ): Promise<void> => {
    const { userId, conversationId, content: text } = delivery
    try {
      await options.onGivenUp?.({ userId, conversationId, channel: channel.name, text, error })
    } catch (cause) {
      options.log.warn({ cause: errorText(cause) }, 'a failed delivery could not be reported')
    }
  }

  const deliver = async (channel: ChannelRow, delivery: DeliveryRow): Promise<void> => {
    const outcome = await attempt(channel, delivery)
    const isStopped = controller.signal.aborted && !outcome.ok
    const pause = RETRY_PAUSES_SECONDS[delivery.attempts - 1]
    const now = options.now()
    if (outcome.ok)
      await repository.settle(delivery.id, {
        status: 'delivered',
        nextAttemptAt: null,
        lastError: null,
        lastFailure: null,
      })
    // Aborted by the end of the process: due after the next start.
    else if (isStopped)
      await repository.settle(delivery.id, {
        status: 'pending',
        nextAttemptAt: now,
        lastError: delivery.lastError,
        lastFailure: delivery.lastFailure,
      })
    else if (outcome.retry && pause !== undefined)
      await repository.settle(delivery.id, {
        status: 'pending',
        nextAttemptAt: new Date(now.getTime() + (options.pauseMs ?? pause * 1_000)),
        ...stored(outcome.failure),
      })
    else {
      await repository.settle(delivery.id, {
        status: 'failed',
        nextAttemptAt: null,
        ...stored(outcome.failure),
      })
      // The sender learns the outcome of the first attempt.
      if (delivery.attempts > 1) await report(channel, delivery, outcome.failure.message)
    }
    for (const notify of waiting.get(delivery.id) ?? []) notify()
  }

  /** Delivers everything that is due now, then schedules the next check. */
  const work = async (): Promise<void> => {
    do {
      again = false
      const now = options.now()
      const due = await repository.claimDue(now, new Date(now.getTime() + LEASE_MS), BATCH_SIZE)
      await Promise.all(due.map(({ channel, delivery }) => deliver(channel, delivery)))
      if (due.length === BATCH_SIZE) again = true
    } while (again && !controller.signal.aborted)
    const now = options.now().getTime()
    await repository.removeSettled(new Date(now - SETTLED_RETENTION_MS), PURGE_BATCH_SIZE)
    const next = (await repository.nextDue())?.getTime() ?? Number.POSITIVE_INFINITY
    sleep(Math.min(Math.max(next - now, 10), MAX_SLEEP_MS))
  }

  const sleep = (ms: number): void => {
    clearTimeout(timer)
    if (controller.signal.aborted) return
    timer = setTimeout(run, ms)
    timer.unref()
  }

  const run = (): void => {
    if (controller.signal.aborted) return
    if (working !== null) {
      again = true
      return
    }
    working = work()
      .catch((error: unknown) => {
        options.log.warn({ cause: errorText(error) }, 'the outbox could not check for messages')
        sleep(MAX_SLEEP_MS)
      })
      .finally(() => {
        working = null
        // Requested after the last check but before the end of this one.
        if (again) run()
      })
  }

  return {
    wake: run,
    start: run,
    async stop() {
      controller.abort()
      clearTimeout(timer)
      await working
    },
    afterFirstAttempt: (deliveryId, signal) =>
      new Promise((resolve) => {
        const listeners = waiting.get(deliveryId) ?? new Set()
        waiting.set(deliveryId, listeners)
        let stopListening = (): void => undefined
        const done = (): void => {
          listeners.delete(done)
          if (listeners.size === 0) waiting.delete(deliveryId)
          stopListening()
          resolve()
        }
        listeners.add(done)
        stopListening = onAbort(signal, done)
      }),
  }
}

const stored = ({ message, ...failure }: DescribedFailure) => ({
  lastError: message,
  lastFailure: failure,
})
