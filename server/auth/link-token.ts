// The random tokens of links: only their hash is stored, and the page carries them in the fragment of its URL.
import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

/** A random token for the fragment of a link; only its hash is stored. */
export const newLinkToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')

/** A fast hash is enough: 256 random bits cannot be guessed. */
export const hashLinkToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex')

/** The page's path that reads the token. A browser never sends a fragment, so it appears in no log. */
export const linkPath = (token: string): string => `/join#${token}`
