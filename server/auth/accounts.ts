// Accounts: registration, sign-in, one's own profile, and whose a credential is.

import type { AccountChanges, UserRepository, UserRow } from '../db/repositories/users.ts'
import { appError } from '../errors.ts'
import { createRateLimit } from '../lib/rate-limit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Identity } from './identity.ts'
import { createLoginGuard, type LoginAttempt, type LoginGuard } from './login-guard.ts'
import { networkOf } from './network.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import type { TokenClaims } from './tokens.ts'

/** The user of single mode. */
export const DEFAULT_USERNAME = 'default'

export interface Accounts {
  /** Whether anybody has an account. */
  exist(): Promise<boolean>
  /** `address` is the client's. @throws AppError `registration_closed`, `name_taken`, `too_many_requests`. */
  register(
    account: { username: string; password: string; email?: string | undefined },
    address: string,
  ): Promise<UserRow>
  /** `address` is the client's, to slow down guessing. @throws AppError `wrong_credentials`, `too_many_requests`. */
  login(credentials: { username: string; password: string }, address: string): Promise<UserRow>
  /** @throws AppError `not_found`. */
  profile(id: UserId): Promise<UserRow>
  /**
   * A new password requires the current one and revokes every other token. API keys stay unless `revokeKeys` is set;
   * `apiKeys` is the number of keys afterwards. @throws AppError `forbidden`, `name_taken`, `too_many_requests`.
   */
  changeProfile(id: UserId, changes: ProfileChanges): Promise<{ user: UserRow; apiKeys: number }>
  /** Revokes one token. */
  logout(session: TokenClaims): Promise<void>
  /** The user of a token, or null when the token was revoked or the account disabled. */
  ofSession(claims: TokenClaims): Promise<Identity | null>
  /** The user of an API key, or null. */
  ofApiKey(key: string): Promise<Identity | null>
  /** The user of single mode, created at the first call. */
  defaultUser(): Promise<Identity>
}

export interface ProfileChanges {
  email?: string | null | undefined
  avatar?: string | null | undefined
  password?: string | undefined
  currentPassword?: string | undefined
  /** The `jti` of the current token: it alone survives a new password. */
  keptToken?: string | undefined
  /** Revokes every API key together with the old password. */
  revokeKeys?: boolean | undefined
}

export interface AccountsDependencies {
  users: UserRepository
  apiKeys: ApiKeys
  registration: 'open' | 'closed'
  /** Accounts that one address may register within an hour. */
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

/** Accounts over the users of the store. */
export function createAccounts({
  users,
  apiKeys,
  registration,
  registrationsPerHour,
  guard = createLoginGuard(),
}: AccountsDependencies): Accounts {
  const registrations = createRateLimit({ limit: registrationsPerHour, windowMs: HOUR_MS })
  const mayRegister = (count: number): void => {
    if (registration === 'closed' && count > 0) throw appError('registration_closed')
  }

  return {
    exist: async () => (await users.count()) > 0,

    async register({ username, password, email }, address) {
      // Also checked before hashing, so that a closed registration costs nothing.
      mayRegister(await users.count())
      const retryAfter = registrations.take(networkOf(address))
      if (retryAfter !== null) throw appError('registrations_exhausted', {}, { retryAfter })
      const passwordHash = await hashPassword(password)
      return users.register({ username, passwordHash, email: email ?? null }, mayRegister)
    },

    async login({ username, password }, address) {
      const attempt = guard.begin(address, username)
      const { user, matches } = await compared(attempt, async () => {
        const found = await users.findByName(username)
        return {
          user: found,
          matches: await verifyPassword(found?.passwordHash ?? null, password),
        }
      })
      if (user === undefined || !matches || !user.isActive) throw appError('wrong_credentials')
      attempt.succeeded()
      return user
    },

    profile: async (id) => (await users.find(id)) ?? refuseMissing(),

    async changeProfile(id, changed) {
      const { password, currentPassword, keptToken, revokeKeys, email, avatar } = changed
      const changes: AccountChanges = {
        ...(email === undefined ? {} : { email }),
        ...(avatar === undefined ? {} : { avatar }),
      }
      if (password !== undefined) {
        const user = (await users.find(id)) ?? refuseMissing()
        if (currentPassword === undefined) throw appError('current_password_missing')
        const place = `profile of ${id}`
        const attempt = guard.begin(place, place)
        const matches = await compared(attempt, () =>
          verifyPassword(user.passwordHash, currentPassword),
        )
        // Not 401: the session is valid, only the current password was wrong.
        if (!matches) throw appError('current_password_wrong')
        attempt.succeeded()
        changes.passwordHash = await hashPassword(password)
        changes.keptToken = keptToken ?? null
        changes.insteadOf = user.passwordHash
        changes.revokeKeys = revokeKeys ?? false
      }
      const user = (await users.update(id, changes)) ?? refuseMissing()
      return { user, apiKeys: (await apiKeys.list(id)).length }
    },

    logout: (session) => users.revokeToken(session.jti, new Date(session.exp * 1000)),

    async ofSession(claims) {
      const user = await users.findForSession(claims.sub, claims.jti)
      if (user?.isActive !== true) return null
      const isGood = user.tokenVersion === claims.version || user.keptToken === claims.jti
      return isGood ? identityOf(user) : null
    },

    async ofApiKey(key) {
      const user = await apiKeys.ownerOf(key)
      return user?.isActive === true ? identityOf(user) : null
    },

    defaultUser: async () => identityOf(await users.ensureDefault(DEFAULT_USERNAME)),
  }
}

/**
 * The outcome of a comparison; one that did not take place (too many at once, no database) does not count as a failed
 * attempt.
 */
async function compared<T>(attempt: LoginAttempt, comparison: () => Promise<T>): Promise<T> {
  try {
    return await comparison()
  } catch (error) {
    attempt.withdraw()
    throw error
  }
}

function refuseMissing(): never {
  throw appError('account_gone')
}
