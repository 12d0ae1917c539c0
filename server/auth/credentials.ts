// Finds the owner of a token or an API key, as long as it is valid.

import type { ApiKeyRow } from '../db/repositories/accounts/api-keys.ts'
import type { SessionRow, UserRepository, UserRow } from '../db/repositories/accounts/users.ts'
import { appError } from '../errors.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Identity } from './identity.ts'
import type { TokenClaims } from './tokens.ts'

/** An API key and its owner. */
export interface KeyOwner {
  user: Identity
  key: ApiKeyRow
}

/** Identifies the user of a request. */
export interface Credentials {
  /**
   * The user of a token, or null if its session has ended or the account is disabled.
   * @param isUse whether the session counts as used; default true.
   */
  ofSession(claims: TokenClaims, isUse?: boolean): Promise<Identity | null>
  /** The user of an API key, or null. */
  ofApiKey(key: string): Promise<KeyOwner | null>
}

/** The dependencies of the credential check. */
export interface CredentialsDependencies {
  users: Pick<UserRepository, 'findForSession'>
  apiKeys: Pick<ApiKeys, 'find'>
  /** Called for each request of a session. */
  onSessionUse(session: SessionRow): void
  now(): Date
}

/** The part of an account that a request carries. */
export const identityOf = ({ id, username, role, tokenVersion }: UserRow): Identity => ({
  id,
  username,
  role,
  tokenVersion,
})

/** Checks at every request, so that an ended session or a disabled account is refused at once. */
export function createCredentials({
  users,
  apiKeys,
  onSessionUse,
  now,
}: CredentialsDependencies): Credentials {
  return {
    async ofSession(claims, isUse = true) {
      const found = await users.findForSession(claims.sub, claims.jti, claims.sid ?? '')
      // Says so to the person who was signed in.
      if (found?.user.isActive === false && isUse) throw appError('account_disabled')
      if (found?.user.isActive !== true) return null
      const { user, session } = found
      if (claims.sid !== undefined) {
        if (session === null || session.expiresAt <= now()) return null
        if (isUse) onSessionUse(session)
      }
      const isValid = user.tokenVersion === claims.version || user.keptToken === claims.jti
      return isValid ? identityOf(user) : null
    },

    async ofApiKey(text) {
      const found = await apiKeys.find(text)
      return found?.user.isActive === true ? { user: identityOf(found.user), key: found.key } : null
    },
  }
}
