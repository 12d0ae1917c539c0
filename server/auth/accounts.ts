// Accounts: registration, sign-in, profile, and the user of a credential.

import type { AccountChanges, UserRepository, UserRow } from '../db/repositories/users.ts'
import { appError } from '../errors.ts'
import { createRateLimit } from '../lib/rate-limit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Identity } from './identity.ts'
import { createLoginGuard, type LoginAttempt, type LoginGuard } from './login-guard.ts'
import { networkOf } from './network.ts'
import type { Passwords } from './passwords.ts'
import type { TokenClaims } from './tokens.ts'

/** The user in single-user mode. */
export const DEFAULT_USERNAME = 'default'

export interface Accounts {
  /** Whether there is any account. */
  exist(): Promise<boolean>
  /** @param address the client's address, for rate limiting. @throws AppError `registration_closed`, `name_taken`, `too_many_requests`. */
  register(
    account: { username: string; password: string; email?: string | undefined },
    address: string,
  ): Promise<UserRow>
  /** @param address the client's address, to slow down guessing. @throws AppError `wrong_credentials`, `too_many_requests`. */
  login(credentials: { username: string; password: string }, address: string): Promise<UserRow>
  /** @throws AppError `not_found`. */
  profile(id: UserId): Promise<UserRow>
  /**
   * A new password requires the current one and revokes all other tokens. API keys remain valid unless `revokeKeys` is set.
   * Returns the number of API keys after the change. @throws AppError `forbidden`, `name_taken`, `too_many_requests`.
   */
  changeProfile(id: UserId, changes: ProfileChanges): Promise<{ user: UserRow; apiKeys: number }>
  /** Revokes one token. */
  logout(session: TokenClaims): Promise<void>
  /** The user of a token, or null if the token is revoked or the account is disabled. */
  ofSession(claims: TokenClaims): Promise<Identity | null>
  /** The user of an API key, or null. */
  ofApiKey(key: string): Promise<Identity | null>
  /** The user in single-user mode, created on the first call. */
  defaultUser(): Promise<Identity>
}

export interface ProfileChanges {
  email?: string | null | undefined
  avatar?: string | null | undefined
  password?: string | undefined
  currentPassword?: string | undefined
  /** The `jti` of the current token, which remains valid after a password change. */
  keptToken?: string | undefined
  /** Revokes every API key together with the old password. */
  revokeKeys?: boolean | undefined
}

export interface AccountsDependencies {
  users: UserRepository
  apiKeys: ApiKeys
  passwords: Passwords
  registration: 'open' | 'closed'
  /** Maximum number of registrations per address and hour. */
  registrationsPerHour: number
  guard?: LoginGuard
}

const HOUR_MS = 60 * 60_000

const identityOf = ({ id, username, role, tokenVersion }: UserRow): Identity => ({
  id,
  username,
  role,
  tokenVersion,
})

/** Create one per process: it holds the rate limits. */
export function createAccounts({
  users,
  apiKeys,
  passwords,
  registration,
  registrationsPerHour,
  guard = createLoginGuard(),
}: AccountsDependencies): Accounts {
  const registrations = createRateLimit({ limit: registrationsPerHour, windowMs: HOUR_MS })
  const assertOpen = (count: number): void => {
    if (registration === 'closed' && count > 0) throw appError('registration_closed')
  }

  return {
    exist: async () => (await users.count()) > 0,

    async register({ username, password, email }, address) {
      // Checked before hashing, too, so that a closed registration costs nothing.
      assertOpen(await users.count())
      const retryAfter = registrations.take(networkOf(address))
      if (retryAfter !== null) throw appError('registrations_exhausted', {}, { retryAfter })
      const passwordHash = await passwords.hash(password)
      return users.register({ username, passwordHash, email: email ?? null }, assertOpen)
    },

    async login({ username, password }, address) {
      const attempt = guard.begin(address, username)
      const { user, matches } = await runAttempt(attempt, async () => {
        const found = await users.findByName(username)
        return {
          user: found,
          matches: await passwords.verify(found?.passwordHash ?? null, password),
        }
      })
      if (user === undefined || !matches || !user.isActive) throw appError('wrong_credentials')
      attempt.succeeded()
      return user
    },

    profile: async (id) => (await users.find(id)) ?? throwMissing(),

    async changeProfile(id, changed) {
      const { password, currentPassword, keptToken, revokeKeys, email, avatar } = changed
      const changes: AccountChanges = {
        ...(email === undefined ? {} : { email }),
        ...(avatar === undefined ? {} : { avatar }),
      }
      if (password !== undefined) {
        const user = (await users.find(id)) ?? throwMissing()
        if (currentPassword === undefined) throw appError('current_password_missing')
        const guardKey = `profile of ${id}`
        const attempt = guard.begin(guardKey, guardKey)
        const matches = await runAttempt(attempt, () =>
          passwords.verify(user.passwordHash, currentPassword),
        )
        // Not 401: the session is valid, only the given password is wrong.
        if (!matches) throw appError('current_password_wrong')
        attempt.succeeded()
        changes.passwordHash = await passwords.hash(password)
        changes.keptToken = keptToken ?? null
        changes.expectedPasswordHash = user.passwordHash
        changes.revokeKeys = revokeKeys ?? false
      }
      const user = (await users.update(id, changes)) ?? throwMissing()
      return { user, apiKeys: (await apiKeys.list(id)).length }
    },

    logout: (session) => users.revokeToken(session.jti, new Date(session.exp * 1000)),

    async ofSession(claims) {
      const user = await users.findForSession(claims.sub, claims.jti)
      if (user?.isActive !== true) return null
      const isValid = user.tokenVersion === claims.version || user.keptToken === claims.jti
      return isValid ? identityOf(user) : null
    },

    async ofApiKey(key) {
      const user = await apiKeys.ownerOf(key)
      return user?.isActive === true ? identityOf(user) : null
    },

    defaultUser: async () => identityOf(await users.ensureDefault(DEFAULT_USERNAME)),
  }
}

/** Runs a comparison. If it throws (server busy, no database), the attempt does not count as failed. */
async function runAttempt<T>(attempt: LoginAttempt, comparison: () => Promise<T>): Promise<T> {
  try {
    return await comparison()
  } catch (error) {
    attempt.withdraw()
    throw error
  }
}

function throwMissing(): never {
  throw appError('account_gone')
}
