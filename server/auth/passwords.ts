// Password hashes: argon2id with the parameters that OWASP recommends, computed off the event loop.
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { appError } from '../errors.ts'

/** Each hash holds 19 MiB for some 50 ms; more at once would cost memory and starve file access of its threads. */
const atATime = pLimit(2)
/** Whoever is let in waits about a second at most; beyond that a clear refusal is better than a long silence. */
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
 * Whether the password is the one that was hashed. Without a stored hash the answer is false, after the same work, so
 * that time does not tell whether an account exists.
 * @throws AppError `server_busy`.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  // Once, and never refused: every sign-in needs it.
  dummy ??= atATime(() => hash('no account has this password', parameters))
  const reference = stored ?? (await dummy)
  const matches = await inTurn(() => verify(reference, password))
  return matches && stored !== null
}
