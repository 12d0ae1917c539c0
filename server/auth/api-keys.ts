// API keys: shown once, stored as a hash, accepted wherever a session token is accepted.
import { createHash, randomBytes } from 'node:crypto'
import type { ApiKeyRepository, ApiKeyRow } from '../db/repositories/accounts/api-keys.ts'
import type { AuditRepository } from '../db/repositories/accounts/audit.ts'
import type { UserRow } from '../db/repositories/accounts/users.ts'
import { appError } from '../errors.ts'
import type { ApiKeyScope, ProgramTools } from '../protocol/accounts/user.ts'
import { type Actor, auditedFields } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Identity } from './identity.ts'

/** The API keys of users. Only their hashes are stored. Creating and removing one leaves its audit entry. */
export interface ApiKeys {
  /**
   * Creates a key. `key` cannot be retrieved later. @throws AppError `unauthorized` when the password was changed or the
   * account disabled since the request was authenticated, `conflict` when there are too many keys, `api_key_expiry_past`.
   */
  create(
    owner: Identity,
    settings: {
      name: string
      /** Null: everything that the owner may do. */
      scopes: ApiKeyScope[] | null
      /** Null: as each request says. */
      programTools: ProgramTools | null
      expiresAt: Date | null
    },
    actor: Actor,
  ): Promise<{ row: ApiKeyRow; key: string }>
  list(userId: UserId): Promise<ApiKeyRow[]>
  /** @throws AppError `not_found`, also for the key of another user. */
  remove(userId: UserId, id: string, actor: Actor): Promise<void>
  /** Undefined if the key is unknown or has expired. */
  find(key: string): Promise<{ user: UserRow; key: ApiKeyRow } | undefined>
}

const PREFIX = 'nc-'
const KEY_BYTES = 32
const SHOWN_CHARACTERS = 9
const MAX_KEYS = 50

/** A fast hash is enough: 256 random bits cannot be guessed. */
const digest = (key: string): string => createHash('sha256').update(key).digest('hex')

/** The key is returned only once, when it is created; the store has only its hash. */
export function createApiKeys(
  { apiKeys, audit }: { apiKeys: ApiKeyRepository; audit: Pick<AuditRepository, 'record'> },
  now: () => Date = () => new Date(),
): ApiKeys {
  return {
    async create(owner, { name, scopes, programTools, expiresAt }, actor) {
      if (expiresAt !== null && expiresAt <= now()) throw appError('api_key_expiry_past')
      const key = PREFIX + randomBytes(KEY_BYTES).toString('base64url')
      const row = await apiKeys.create({
        userId: owner.id,
        name,
        prefix: key.slice(0, SHOWN_CHARACTERS),
        hash: digest(key),
        scopes: scopes === null ? null : [...new Set(scopes)],
        programTools,
        expiresAt,
        atMost: MAX_KEYS,
        mayCreate(user) {
          if (user?.isActive === true && user.tokenVersion === owner.tokenVersion) return
          throw appError('session_ended')
        },
        after: (tx, { id, scopes: granted }) =>
          audit.record(tx, actor, {
            action: 'key_created',
            at: now(),
            details: auditedFields(
              {
                id,
                name,
                scopes: granted,
                program_tools: programTools,
                expires_at: expiresAt?.toISOString(),
              },
              null,
            ),
          }),
      })
      if (row === null) throw appError('api_keys_exhausted', { limit: MAX_KEYS })
      return { row, key }
    },
    list: (userId) => apiKeys.list(userId),
    async remove(userId, id, actor) {
      const removed = await apiKeys.remove(userId, id, (tx, { name }) =>
        audit.record(tx, actor, { action: 'key_deleted', at: now(), details: { id, name } }),
      )
      if (!removed) throw appError('api_key_not_found')
    },
    async find(key) {
      const found = await apiKeys.findByHash(digest(key))
      const time = now()
      if (found === undefined || (found.key.expiresAt !== null && found.key.expiresAt <= time))
        return undefined
      // Accurate to the minute, to avoid a write per request.
      if (time.getTime() - (found.key.lastUsedAt?.getTime() ?? 0) > 60_000)
        await apiKeys.touch(found.key.id, time)
      return found
    },
  }
}
