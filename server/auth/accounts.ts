// Accounts: registering, signing in, the own profile, and who a credential belongs to.

import type { AccountChanges, UserRepository, UserRow } from '../db/repositories/users.ts'
import { AppError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Identity } from './identity.ts'
import { createLoginGuard, type LoginGuard } from './login-guard.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import type { TokenClaims } from './tokens.ts'

/** The one person of single mode. */
export const DEFAULT_USERNAME = 'default'

export interface Accounts {
  /** @throws AppError `registration_closed`, `name_taken`. */
  register(account: {
    username: string
    password: string
    email?: string | undefined
  }): Promise<UserRow>
  /** `address` is the client's, for slowing down guessing. @throws AppError `wrong_credentials`, `too_many_requests`. */
  login(credentials: { username: string; password: string }, address: string): Promise<UserRow>
  /** @throws AppError `not_found`. */
  profile(id: UserId): Promise<UserRow>
  /** A new password needs the current one and ends every other token. @throws AppError `forbidden`, `name_taken`. */
  changeProfile(id: UserId, changes: ProfileChanges): Promise<UserRow>
  /** Ends one token. */
  logout(session: TokenClaims): Promise<void>
  /** The user of a token, or null when the token was ended or the account disabled. */
  ofSession(claims: TokenClaims): Promise<Identity | null>
  /** The user of an API key, or null. */
  ofApiKey(key: string): Promise<Identity | null>
  /** The person of single mode, made at the first call. */
  defaultUser(): Promise<Identity>
}

export interface ProfileChanges {
  email?: string | null | undefined
  avatar?: string | null | undefined
  password?: string | undefined
  currentPassword?: string | undefined
  /** The `jti` of the token in use: it alone survives a new password. */
  keptToken?: string | undefined
}

export interface AccountsDependencies {
  users: UserRepository
  apiKeys: ApiKeys
  registration: 'open' | 'closed'
  guard?: LoginGuard
}

const identityOf = ({ id, username, role }: UserRow): Identity => ({ id, username, role })

/** Accounts over the users of the store. */
export function createAccounts({
  users,
  apiKeys,
  registration,
  guard = createLoginGuard(),
}: AccountsDependencies): Accounts {
  const mayRegister = (count: number): void => {
    if (registration === 'closed' && count > 0)
      throw new AppError(
        'registration_closed',
        'Registration is closed. Ask an administrator for an account.',
      )
  }

  return {
    async register({ username, password, email }) {
      // Asked before hashing too, so that a closed door costs nothing.
      mayRegister(await users.count())
      const passwordHash = await hashPassword(password)
      return users.register({ username, passwordHash, email: email ?? null }, mayRegister)
    },

    async login({ username, password }, address) {
      guard.assertMayTry(address, username)
      const user = await users.findByName(username)
      const matches = await verifyPassword(user?.passwordHash ?? null, password)
      if (user === undefined || !matches || !user.isActive) {
        guard.failed(address, username)
        throw new AppError('wrong_credentials', 'The user name or the password is wrong.')
      }
      guard.succeeded(address, username)
      return user
    },

    profile: async (id) => (await users.find(id)) ?? refuseMissing(),

    async changeProfile(id, { password, currentPassword, keptToken, email, avatar }) {
      const changes: AccountChanges = {
        ...(email === undefined ? {} : { email }),
        ...(avatar === undefined ? {} : { avatar }),
      }
      if (password !== undefined) {
        const user = (await users.find(id)) ?? refuseMissing()
        if (currentPassword === undefined)
          throw new AppError('bad_request', 'A new password needs `current_password`.')
        const place = `profile of ${id}`
        guard.assertMayTry(place, place)
        if (!(await verifyPassword(user.passwordHash, currentPassword))) {
          guard.failed(place, place)
          // Not 401: the session is good, only the answer was wrong.
          throw new AppError('forbidden', 'The current password is wrong.')
        }
        changes.passwordHash = await hashPassword(password)
        changes.keptToken = keptToken ?? null
      }
      return (await users.update(id, changes)) ?? refuseMissing()
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

function refuseMissing(): never {
  throw new AppError('not_found', 'This account does not exist any more.')
}
