// The keys that sign tokens: the newest signs; earlier ones are accepted until everything that they signed has expired.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { writeFileAtomically } from './atomic-file.ts'
import { REFRESH_LIFETIME_SECONDS } from './sessions.ts'

/** A key that signs tokens. */
export interface TokenKey {
  /** In the header of each token that it signed. */
  id: string
  secret: string
}

/** Newest first. The newest signs. */
export interface TokenKeys {
  current(): TokenKey
  /** All keys that are still accepted. */
  accepted(): readonly TokenKey[]
}

const FILE = 'token-keys.json'
/** New keys that are not in use yet. */
const DRAFT = `${FILE}.unfinished`
const SECRET_BYTES = 32
/** An unused page renews its session after this time at the latest. Includes one more day for clock differences. */
const OVERLAP_MS = (REFRESH_LIFETIME_SECONDS + 24 * 60 * 60) * 1000

const Stored = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        /** Null for `jwt_secret` of the configuration. */
        secret: z.string().min(32).nullable(),
        /** When an earlier key stops being accepted; null for the newest. */
        until: z.iso.datetime().nullable(),
      }),
    )
    .min(1),
})
type Stored = z.output<typeof Stored>

const idOf = (secret: string): string =>
  createHash('sha256').update(`token key ${secret}`).digest('hex').slice(0, 16)

function read(dataDirectory: string, configured: string): Stored {
  const file = join(dataDirectory, FILE)
  if (!existsSync(file)) return { keys: [{ id: idOf(configured), secret: null, until: null }] }
  try {
    return Stored.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    throw new AppError(
      'internal',
      `${FILE} in the data folder is invalid. Restore it from your backup, or delete it (all users must then sign in again).`,
      { cause },
    )
  }
}

/** @param configured `jwt_secret`, which signs until keys are rotated for the first time. */
export function loadTokenKeys(
  dataDirectory: string,
  configured: string,
  now: () => Date,
): TokenKeys {
  const keys = read(dataDirectory, configured).keys.map(({ id, secret, until }) => ({
    id,
    secret: secret ?? configured,
    until: until === null ? Number.POSITIVE_INFINITY : Date.parse(until),
  }))
  const accepted = (): TokenKey[] => keys.filter(({ until }) => until > now().getTime())
  const current = (): TokenKey => {
    const [newest] = keys
    if (newest === undefined) throw new AppError('internal', `${FILE} has no key.`)
    return newest
  }
  return { current, accepted }
}

/** New keys on the disk, which take the place of the present ones, or are discarded. */
export interface TokenKeysDraft {
  /** How many keys will be accepted. */
  accepted: number
  use(): void
  discard(): void
}

/**
 * Writes a new key that signs from the next start on, once it is used. Earlier ones are accepted until everything that they signed has
 * expired, or not at all.
 */
export function draftTokenKeys(
  dataDirectory: string,
  configured: string,
  { now, overlap }: { now: Date; overlap: boolean },
): TokenKeysDraft {
  const until = new Date(now.getTime() + OVERLAP_MS).toISOString()
  const earlier = read(dataDirectory, configured)
    .keys.map((key) => ({ ...key, until: key.until ?? until }))
    .filter((key) => overlap && Date.parse(key.until) > now.getTime())
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const stored: Stored = { keys: [{ id: idOf(secret), secret, until: null }, ...earlier] }
  const draft = join(dataDirectory, DRAFT)
  writeFileAtomically(draft, `${JSON.stringify(stored, null, 2)}\n`)
  return {
    accepted: stored.keys.length,
    use: () => renameSync(draft, join(dataDirectory, FILE)),
    discard: () => rmSync(draft, { force: true }),
  }
}

/** The secrets that sign what browsers keep, newest first; none in single mode, where nobody signs in. */
export const secretsOf = (keys: TokenKeys | null) => (): readonly string[] =>
  keys?.accepted().map(({ secret }) => secret) ?? []
