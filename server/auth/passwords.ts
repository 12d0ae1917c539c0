// Password hashes: argon2id with the parameters that OWASP recommends, computed off the event loop.
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { appError } from '../errors.ts'

/**
 * Each hash takes 19 MiB for some 50 ms; more at once would cost memory and block the threads that file access needs.
 */
const atATime = pLimit(2)
/** A sign-in waits about a second at most; beyond that, a clear refusal is better than a long wait. */
const MAX_WAITING = 30

/** @throws AppError `server_busy` when too many wait already. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (atATime.pendingCount >= MAX_WAITING)
    throw appError(
      'sign_in_busy',
      {},
      {
        retryable: true,
        retryAfter: 2,
      },
    )
  return atATime(work)
}

/** argon2id is the default algorithm of the package; memory in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

let dummy: Promise<string> | undefined

/** The text to store for a password. @throws AppError `server_busy`. */
export const hashPassword = async (password: string): Promise<string> =>
  inTurn(() => hash(password, parameters))

/**
 * Whether the password matches the hash. Without a stored hash it is false, after the same work, so that timing does
 * not reveal whether an account exists.
 * @throws AppError `server_busy`.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  // Once, and never refused, because every sign-in needs it.
  dummy ??= atATime(() => hash('no account has this password', parameters))
  const reference = stored ?? (await dummy)
  const matches = await inTurn(() => verify(reference, password))
  return matches && stored !== null
}
