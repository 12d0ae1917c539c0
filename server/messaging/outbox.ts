// An outbox: deliveries are stored first, sent in the background, and retried with growing pauses, even after a restart.
import { AppError, errorText } from '../errors.ts'
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
  onGivenUp?(item: Item, failure: DescribedFailure): Promise<unknown>
  now(): Date
  log: { warn(details: object, message: string): void }
  /** Replaces the pauses, in milliseconds; for tests. */
  pauseMs?: number | undefined
}

/** An outbox and what it is doing. */
interface OutboxState<Item extends { delivery: OutboxDelivery }> extends OutboxOptions<Item> {
  readonly controller: AbortController
  /** Callbacks by delivery id, called after its next attempt. */
  readonly waiting: Map<string, Set<() => void>>
  timer: NodeJS.Timeout | undefined
  working: Promise<void> | null
  again: boolean
}

/** Creates the sender of one process. Several processes on one database share the work without sending twice. */
export function createOutbox<Item extends { delivery: OutboxDelivery }>(
  options: OutboxOptions<Item>,
): Outbox {
  const outbox: OutboxState<Item> = {
    ...options,
    controller: new AbortController(),
    waiting: new Map<string, Set<() => void>>(),
    timer: undefined,
    working: null,
    again: false,
  }
  return {
    wake: () => run(outbox),
    start: () => run(outbox),
    async stop() {
      outbox.controller.abort()
      clearTimeout(outbox.timer)
      await outbox.working
    },
    afterFirstAttempt: (deliveryId, signal) => afterFirstAttempt(outbox, deliveryId, signal),
  }
}

async function attempt<Item extends { delivery: OutboxDelivery }>(
  outbox: OutboxState<Item>,
  item: Item,
): Promise<SendOutcome> {
  try {
    return await outbox.send(item, deadline(SEND_TIMEOUT_MS, outbox.controller.signal))
  } catch (error) {
    outbox.log.warn({ cause: errorText(error) }, 'a delivery failed with an unexpected error')
    // Retried, because the secret key may come back.
    const isUnreadable = error instanceof AppError && error.reason === 'secret_unreadable'
    const reason = isUnreadable ? 'delivery_secret_unreadable' : 'delivery_failed'
    return { ok: false, failure: storedFailure(reason), retry: true }
  }
}

async function report<Item extends { delivery: OutboxDelivery }>(
  outbox: OutboxState<Item>,
  item: Item,
  failure: DescribedFailure,
): Promise<void> {
  try {
    await outbox.onGivenUp?.(item, failure)
  } catch (cause) {
    outbox.log.warn({ cause: errorText(cause) }, 'a failed delivery could not be reported')
  }
}

async function deliver<Item extends { delivery: OutboxDelivery }>(
  outbox: OutboxState<Item>,
  item: Item,
): Promise<void> {
  const { delivery } = item
  const outcome = await attempt(outbox, item)
  const isStopped = outbox.controller.signal.aborted && !outcome.ok
  const pause = outbox.pausesSeconds[delivery.attempts - 1]
  const now = outbox.now()
  if (outcome.ok)
    await outbox.queue.settle(delivery.id, {
      status: 'delivered',
      nextAttemptAt: null,
      lastError: null,
      lastFailure: null,
    })
  // Aborted because the process ends: due after the next start.
  else if (isStopped)
    await outbox.queue.settle(delivery.id, {
      status: 'pending',
      nextAttemptAt: now,
      lastError: delivery.lastError,
      lastFailure: delivery.lastFailure,
    })
  else if (outcome.retry && pause !== undefined)
    await outbox.queue.settle(delivery.id, {
      status: 'pending',
      nextAttemptAt: new Date(now.getTime() + (outbox.pauseMs ?? pause * 1_000)),
      ...stored(outcome.failure),
    })
  else {
    await outbox.queue.settle(delivery.id, {
      status: 'failed',
      nextAttemptAt: null,
      ...stored(outcome.failure),
    })
    // The sender already knows the outcome of the first attempt.
    if (delivery.attempts > 1) await report(outbox, item, outcome.failure)
  }
  for (const notify of outbox.waiting.get(delivery.id) ?? []) notify()
}

/** Delivers everything that is due now, then schedules the next check. */
async function work<Item extends { delivery: OutboxDelivery }>(
  outbox: OutboxState<Item>,
): Promise<void> {
  do {
    outbox.again = false
    const now = outbox.now()
    const due = await outbox.queue.claimDue(now, new Date(now.getTime() + LEASE_MS), BATCH_SIZE)
    await Promise.all(due.map((item) => deliver(outbox, item)))
    if (due.length === BATCH_SIZE) outbox.again = true
  } while (outbox.again && !outbox.controller.signal.aborted)
  const now = outbox.now().getTime()
  await outbox.queue.removeSettled(new Date(now - SETTLED_RETENTION_MS), PURGE_BATCH_SIZE)
  const next = (await outbox.queue.nextDue())?.getTime() ?? Number.POSITIVE_INFINITY
  sleep(outbox, Math.min(Math.max(next - now, 10), MAX_SLEEP_MS))
}

function sleep<Item extends { delivery: OutboxDelivery }>(
  outbox: OutboxState<Item>,
  ms: number,
): void {
  clearTimeout(outbox.timer)
  if (outbox.controller.signal.aborted) return
  outbox.timer = setTimeout(() => run(outbox), ms)
  outbox.timer.unref()
}

function run<Item extends { delivery: OutboxDelivery }>(outbox: OutboxState<Item>): void {
  if (outbox.controller.signal.aborted) return
  if (outbox.working !== null) {
    outbox.again = true
    return
  }
  outbox.working = work(outbox)
    .catch((error: unknown) => {
      outbox.log.warn({ cause: errorText(error) }, 'the outbox could not check for messages')
      sleep(outbox, MAX_SLEEP_MS)
    })
    .finally(() => {
      outbox.working = null
      // Requested after the last check but before the end of this one.
      if (outbox.again) run(outbox)
    })
}

const afterFirstAttempt = <Item extends { delivery: OutboxDelivery }>(
  outbox: OutboxState<Item>,
  deliveryId: string,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve) => {
    const listeners = outbox.waiting.get(deliveryId) ?? new Set()
    outbox.waiting.set(deliveryId, listeners)
    let stopListening = (): void => undefined
    const done = (): void => {
      listeners.delete(done)
      if (listeners.size === 0) outbox.waiting.delete(deliveryId)
      stopListening()
      resolve()
    }
    listeners.add(done)
    stopListening = onAbort(signal, done)
  })

const stored = ({ message, ...failure }: DescribedFailure) => ({
  lastError: message,
  lastFailure: failure,
})
