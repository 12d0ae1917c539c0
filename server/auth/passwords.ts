// Password hashes: argon2id with the parameters that OWASP recommends, computed off the event loop.
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'

/** Each hash holds 19 MiB for some 50 ms; more at once would cost memory and starve file access of its threads. */
const atATime = pLimit(2)
/** argon2id is the default algorithm of the package; memory in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

let dummy: Promise<string> | undefined

/** The text to store for a password. */
export const hashPassword = (password: string): Promise<string> =>
  atATime(() => hash(password, parameters))

/**
 * Whether the password is the one that was hashed. Without a stored hash the answer is false, after the same work, so
 * that time does not tell whether an account exists.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  dummy ??= hashPassword('no account has this password')
  const reference = stored ?? (await dummy)
  const matches = await atATime(() => verify(reference, password))
  return matches && stored !== null
}
