// Password hashes: argon2id, computed off the event loop.
import { appError } from '../errors.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import { NO_PASSWORD } from './reset-rule.ts'

/** Each hash takes 19 MiB for about 50 ms. More in parallel would cost memory and block the threads used for file access. */
const IN_PARALLEL = 2
/** Limits the wait of a sign-in to about a second; beyond that, an immediate error is better. */
const MAX_WAITING = 30
/** Prevents one network from filling the queue. */
const MAX_WAITING_OF_ONE = 15

/** Native code, loaded with the first password, because single mode has none. */
const argon2 = () => import('@node-rs/argon2')

/** What one hash costs; memory in KiB. */
export interface PasswordCost {
  memoryCost: number
  timeCost: number
  parallelism: number
}

/** OWASP's recommendation for argon2id, which is the package's default algorithm. */
const RECOMMENDED_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Hashes and checks passwords, off the event loop. */
export interface Passwords {
  /**
   * Returns the hash to store for a password.
   * @param from who requests it: an account, or a client's network. They take turns.
   * @throws AppError `server_busy`.
   */
  hash(password: string, from?: string): Promise<string>
  /**
   * Whether the password matches the hash. Without a stored hash, or with `NO_PASSWORD`, does the same work and returns false, so that timing does
   * not reveal whether an account exists.
   * @throws AppError `server_busy`.
   */
  verify(stored: string | null, password: string, from?: string): Promise<boolean>
}

/** Create one per process: it bounds how many hashes are computed at once, `inParallel`. */
export function createPasswords(
  cost: PasswordCost = RECOMMENDED_COST,
  inParallel = IN_PARALLEL,
): Passwords {
  const queue = createFairQueue({ size: inParallel })
  let dummy: Promise<string> | undefined
  const hash = async (password: string): Promise<string> => (await argon2()).hash(password, cost)

  /** @throws AppError `server_busy` when too many are already waiting. */
  function enqueue<T>(from: string | null, work: () => Promise<T>): Promise<T> {
    const isFull =
      queue.waiting() >= MAX_WAITING || (from !== null && queue.waiting(from) >= MAX_WAITING_OF_ONE)
    if (isFull) throw appError('sign_in_busy', {}, { retryable: true, retryAfter: 2 })
    return queue.run(from, work)
  }

  return {
    hash: async (password, from) => enqueue(from ?? null, () => hash(password)),
    async verify(stored, password, from) {
      // Computed once and never rejected, because every sign-in needs it.
      dummy ??= queue.run(null, () => hash('no account has this password'))
      const hasPassword = stored !== null && stored !== NO_PASSWORD
      const reference = hasPassword ? stored : await dummy
      const matches = await enqueue(from ?? null, async () =>
        (await argon2()).verify(reference, password),
      )
      return matches && hasPassword
    },
  }
}
