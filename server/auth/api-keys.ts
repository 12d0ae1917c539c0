// API keys: shown once, stored as a hash, accepted wherever a session token is accepted.
import { createHash, randomBytes } from 'node:crypto'
import type { ApiKeyRow, UserRepository, UserRow } from '../db/repositories/users.ts'
import { appError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Identity } from './identity.ts'

export interface ApiKeys {
  /**
   * Creates a key. `key` cannot be retrieved later. @throws AppError `unauthorized` when the password was changed or the
   * account disabled since the request was authenticated, `conflict` when there are too many keys.
   */
  create(owner: Identity, name: string): Promise<{ row: ApiKeyRow; key: string }>
  list(userId: UserId): Promise<ApiKeyRow[]>
  /** @throws AppError `not_found`, also for the key of another user. */
  remove(userId: UserId, id: string): Promise<void>
  ownerOf(key: string): Promise<UserRow | undefined>
}

const PREFIX = 'nc-'
const KEY_BYTES = 32
const SHOWN_CHARACTERS = 9
const MAX_KEYS = 50

/** A fast hash is enough: 256 random bits cannot be guessed. */
const digest = (key: string): string => createHash('sha256').update(key).digest('hex')

export function createApiKeys(users: UserRepository, now: () => Date = () => new Date()): ApiKeys {
  return {
    async create(owner, name) {
      const key = PREFIX + randomBytes(KEY_BYTES).toString('base64url')
      const row = await users.createApiKey({
        userId: owner.id,
        name,
        prefix: key.slice(0, SHOWN_CHARACTERS),
        hash: digest(key),
        atMost: MAX_KEYS,
        mayCreate(user) {
          if (user?.isActive === true && user.tokenVersion === owner.tokenVersion) return
          throw appError('session_ended')
        },
      })
      if (row === null) throw appError('api_keys_exhausted', { limit: MAX_KEYS })
      return { row, key }
    },
    list: (userId) => users.listApiKeys(userId),
    async remove(userId, id) {
      if (!(await users.removeApiKey(userId, id))) throw appError('api_key_not_found')
    },
    async ownerOf(key) {
      const found = await users.findByApiKey(digest(key))
      if (found === undefined) return undefined
      const at = now()
      // Accurate to the minute, to avoid a write per request.
      if (at.getTime() - (found.key.lastUsedAt?.getTime() ?? 0) > 60_000)
        await users.touchApiKey(found.key.id, at)
      return found.user
    },
  }
}
