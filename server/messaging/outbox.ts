// An outbox: deliveries are stored first, sent in the background, and retried with growing pauses, even after a restart.
import { errorText } from '../errors.ts'
import { deadline, onAbort } from '../lib/abort.ts'
import {
  type DescribedFailure,
  type StoredFailure,
  storedFailure,
} from '../protocol/failures/stored.ts'
import type { SendOutcome } from './channel-kind.ts'

/** Longer than any attempt may take. After this time, another process takes over a delivery whose sender has died. */
const LEASE_MS = 120_000
const SEND_TIMEOUT_MS = 60_000
const BATCH_SIZE = 8
/** Maximum time between checks for messages that other processes stored or left behind. */
const MAX_SLEEP_MS = 30_000
const SETTLED_RETENTION_MS = 7 * 24 * 3_600_000
const PURGE_BATCH_SIZE = 500

/** Sends stored deliveries, and retries failed ones. */
export interface Outbox {
  /** Call it when a delivery was stored: checks at once. */
  wake(): void
  /** Starts delivering; returns at once. */
  start(): void
  /** Aborts the attempts in progress (they are repeated after the next start) and stops. */
  stop(): Promise<void>
  /** Resolves when the first attempt of this delivery has ended or the signal is aborted. Never rejects. */
  afterFirstAttempt(deliveryId: string, signal: AbortSignal): Promise<void>
}

/** The part of a delivery that the outbox needs. */
export interface OutboxDelivery {
  id: string
  /** Number of attempts, including the one in progress. */
  attempts: number
  lastError: string | null
  lastFailure: StoredFailure | null
}

/** Stores deliveries, and who has claimed them. */
export interface OutboxQueue<Item> {
  /** Claims due deliveries and counts the attempt. No other process gets them before `leaseUntil`. */
  claimDue(now: Date, leaseUntil: Date, limit: number): Promise<Item[]>
  /** When the next delivery is due; null when none is pending. */
  nextDue(): Promise<Date | null>
  settle(
    id: string,
    outcome: {
      status: 'pending' | 'delivered' | 'failed'
      nextAttemptAt: Date | null
      lastError: string | null
      lastFailure: StoredFailure | null
    },
  ): Promise<void>
  removeSettled(before: Date, limit: number): Promise<void>
}

/** The options of an outbox. */
export interface OutboxOptions<Item extends { delivery: OutboxDelivery }> {
  queue: OutboxQueue<Item>
  /** Makes one attempt. An exception counts as a failure worth retrying. Stops when the signal is aborted. */
  send(item: Item, signal: AbortSignal): Promise<SendOutcome>
  /** Pauses before the second, third … attempt. After the last one, the delivery has failed. */
  pausesSeconds: readonly number[]
  /** Called when a delivery that was going to be retried has finally failed. */
  onGivenUp?(item: Item, error: string): Promise<unknown>
  now(): Date
  log: { warn(details: object, message: string): void }
  /** Replaces the pauses, in milliseconds; for tests. */
  pauseMs?: number | undefined
}

/** Creates the sender of one process. Several processes on one database share the work without sending twice. */
export function createOutbox<Item extends { delivery: OutboxDelivery }>(
  options: OutboxOptions<Item>,
): Outbox {
  const { queue } = options
  const controller = new AbortController()
  /** Callbacks by delivery id, called after its next attempt. */
  const waiting = new Map<string, Set<() => void>>()
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | null = null
  let again = false

  const attempt = async (item: Item): Promise<SendOutcome> => {
    try {
      return await options.send(item, deadline(SEND_TIMEOUT_MS, controller.signal))
    } catch (error) {
      options.log.warn({ cause: errorText(error) }, 'a delivery failed with an unexpected error')
      return { ok: false, failure: storedFailure('delivery_failed'), retry: true }
    }
  }

  const report = async (item: Item, error: string): Promise<void> => {
    try {
      await options.onGivenUp?.(item, error)
    } catch (cause) {
      options.log.warn({ cause: errorText(cause) }, 'a failed delivery could not be reported')
    }
  }

  const deliver = async (item: Item): Promise<void> => {
    const { delivery } = item
    const outcome = await attempt(item)
    const isStopped = controller.signal.aborted && !outcome.ok
    const pause = options.pausesSeconds[delivery.attempts - 1]
    const now = options.now()
    if (outcome.ok)
      await queue.settle(delivery.id, {
        status: 'delivered',
        nextAttemptAt: null,
        lastError: null,
        lastFailure: null,
      })
    // Aborted because the process ends: due after the next start.
    else if (isStopped)
      await queue.settle(delivery.id, {
        status: 'pending',
        nextAttemptAt: now,
        lastError: delivery.lastError,
        lastFailure: delivery.lastFailure,
      })
    else if (outcome.retry && pause !== undefined)
      await queue.settle(delivery.id, {
        status: 'pending',
        nextAttemptAt: new Date(now.getTime() + (options.pauseMs ?? pause * 1_000)),
        ...stored(outcome.failure),
      })
    else {
      await queue.settle(delivery.id, {
        status: 'failed',
        nextAttemptAt: null,
        ...stored(outcome.failure),
      })
      // The sender already knows the outcome of the first attempt.
      if (delivery.attempts > 1) await report(item, outcome.failure.message)
    }
    for (const notify of waiting.get(delivery.id) ?? []) notify()
  }

  /** Delivers everything that is due now, then schedules the next check. */
  const work = async (): Promise<void> => {
    do {
      again = false
      const now = options.now()
      const due = await queue.claimDue(now, new Date(now.getTime() + LEASE_MS), BATCH_SIZE)
      await Promise.all(due.map(deliver))
      if (due.length === BATCH_SIZE) again = true
    } while (again && !controller.signal.aborted)
    const now = options.now().getTime()
    await queue.removeSettled(new Date(now - SETTLED_RETENTION_MS), PURGE_BATCH_SIZE)
    const next = (await queue.nextDue())?.getTime() ?? Number.POSITIVE_INFINITY
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
