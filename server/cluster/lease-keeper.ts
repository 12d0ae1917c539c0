// Renews the lease by which an instance holds its runs, and lets the instance act only while the lease is certainly valid.
import { errorText } from '../errors.ts'
import { untilAborted } from '../lib/abort.ts'

/** A lease ends this long after its last renewal, by the database's clock. */
export const LEASE_MS = 15_000
const RENEW_EVERY_MS = 4_000
const RETRY_MS = 500
/** Nothing begins this close to the end of the lease, because clocks of two machines do not run equally fast. */
const MARGIN_MS = 3_000

/** Renews the lease of this instance, without which it must not write. */
export interface LeaseKeeper {
  readonly isValid: boolean
  /** Resolves as soon as the lease is valid, nearly always at once. Rejects when the signal is aborted. */
  whenValid(signal: AbortSignal): Promise<void>
  /** Whether this instance may declare others dead: its own lease did not lapse during the last lease period. */
  readonly isTrusted: boolean
  /** How often the lease was not renewed in time. */
  readonly lapses: number
  /** Whether the lease has been valid ever since a moment of the monotonic clock. */
  isHeldSince(moment: number): boolean
  /** Renews no more. */
  stop(): void
}

/** Takes the lease before it resolves. @param renew rejects while the database is unreachable. */
export async function keepLease({
  renew,
  log,
  now = () => performance.now(),
}: {
  renew(ms: number): Promise<boolean>
  log: { warn(details: object, message: string): void }
  /** Milliseconds of a monotonic clock. */
  now?(): number
}): Promise<LeaseKeeper> {
  let validUntil = Number.NEGATIVE_INFINITY
  let lapsedAt = Number.NEGATIVE_INFINITY
  let lapses = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let waiting: (() => void)[] = []

  async function tryRenew(): Promise<void> {
    // Counted from before the request; the database counts from a later moment.
    const askedAt = now()
    if (!(await renew(LEASE_MS))) throw new Error('The lease of this instance is held by another.')
    if (validUntil !== Number.NEGATIVE_INFINITY && now() > validUntil) {
      lapsedAt = now()
      lapses += 1
    }
    validUntil = askedAt + LEASE_MS - MARGIN_MS
    const wake = waiting
    waiting = []
    for (const resume of wake) resume()
  }
  async function renewForever(): Promise<void> {
    let delay = RENEW_EVERY_MS
    try {
      await tryRenew()
    } catch (error) {
      delay = RETRY_MS
      if (now() > validUntil)
        log.warn(
          { reason: errorText(error) },
          'the lease could not be renewed; no tool starts until it is',
        )
    }
    if (!isStopped) timer = setTimeout(() => void renewForever(), delay)
  }

  await tryRenew()
  timer = setTimeout(() => void renewForever(), RENEW_EVERY_MS)
  return {
    get isValid() {
      return now() < validUntil
    },
    async whenValid(signal) {
      while (now() >= validUntil)
        await untilAborted(new Promise<void>((wake) => waiting.push(wake)), signal)
    },
    get isTrusted() {
      return now() < validUntil && now() - lapsedAt > LEASE_MS
    },
    get lapses() {
      return lapses
    },
    isHeldSince: (moment) => now() < validUntil && lapsedAt < moment,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
