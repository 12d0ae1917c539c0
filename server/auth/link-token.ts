// The random tokens of links. Only their hashes are stored; URLs carry them in the fragment.
import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

/** A random token for the fragment of a link; only its hash is stored. */
export const newLinkToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')

/** A fast hash is enough: 256 random bits cannot be guessed. */
export const hashLinkToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex')

/** The page's path that reads the token. Browsers never send the fragment, so the token appears in no log. */
export const linkPath = (token: string): string => `/join#${token}`
