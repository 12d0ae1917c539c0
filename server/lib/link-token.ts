// The random tokens of links. Only their hashes are stored.
import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

/** A random token for a link; only its hash is stored. */
export const newLinkToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')

/** A fast hash is enough: 256 random bits cannot be guessed. */
export const hashLinkToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex')
