// Password hashes: argon2id with the parameters that OWASP recommends, computed off the event loop.
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { appError } from '../errors.ts'

/** Each hash takes 19 MiB for about 50 ms. More in parallel would cost memory and block the threads used for file access. */
const queue = pLimit(2)
/** Bounds the wait of a sign-in to about a second; beyond that, an immediate error is better. */
const MAX_WAITING = 30

/** @throws AppError `server_busy` when too many are already waiting. */
function enqueue<T>(work: () => Promise<T>): Promise<T> {
  if (queue.pendingCount >= MAX_WAITING)
    throw appError('sign_in_busy', {}, { retryable: true, retryAfter: 2 })
  return queue(work)
}

/** argon2id is the default algorithm of the package; memory in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

let dummy: Promise<string> | undefined

/** The hash to store for a password. @throws AppError `server_busy`. */
export const hashPassword = async (password: string): Promise<string> =>
  enqueue(() => hash(password, parameters))

/**
 * Whether the password matches the hash. Without a stored hash, does the same work and returns false, so that timing does
 * not reveal whether an account exists.
 * @throws AppError `server_busy`.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  // Computed once and never rejected, because every sign-in needs it.
  dummy ??= queue(() => hash('no account has this password', parameters))
  const reference = stored ?? (await dummy)
  const matches = await enqueue(() => verify(reference, password))
  return matches && stored !== null
}
