// Tables of who is signed in where, of API keys, and of requests that their clients may repeat.
import { sql } from 'drizzle-orm'
import type { ApiKeyScope, ProgramTools } from '../../../protocol/accounts/user.ts'
import type { RunId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import { ownedBy } from '../owner.ts'
import type { defineAccountTables } from './accounts.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'>

/** Tables of the credentials of requests, and of requests that may be repeated. */
export function defineSessionTables(c: Columns, { users }: Accounts) {
  const revokedTokens = c.table(
    'revoked_tokens',
    { jti: c.text('jti').primaryKey(), expiresAt: c.time('expires_at').notNull() },
    (t) => [c.index('revoked_tokens_expires').on(t.expiresAt)],
  )

  /** Who is signed in where. A token that names a session is valid as long as its row exists. */
  const sessions = c.table(
    'sessions',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      /** `page`: short access tokens, renewed with a refresh token; `token`: one token until it expires. */
      kind: c.choice<'page' | 'token'>('kind').notNull(),
      /** How often the refresh token was rotated: only the token of this generation is valid. */
      generation: c.integer('generation').notNull(),
      userAgent: c.text('user_agent').notNull(),
      address: c.text('address').notNull(),
      createdAt: c.time('created_at').notNull(),
      lastUsedAt: c.time('last_used_at').notNull(),
      rotatedAt: c.time('rotated_at').notNull(),
      expiresAt: c.time('expires_at').notNull(),
    },
    (t) => [
      c.index('sessions_user').on(t.userId, t.lastUsedAt, t.id),
      c.index('sessions_expires').on(t.expiresAt),
    ],
  )

  const apiKeys = c.table(
    'api_keys',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      name: c.text('name').notNull(),
      prefix: c.text('prefix').notNull(),
      hash: c.text('hash').notNull(),
      /** What the key may do; null: everything that its owner may. */
      scopes: c.json<ApiKeyScope[]>('scopes'),
      /** Whether answers for programs use the server's tools; null: as the request says. */
      programTools: c.choice<ProgramTools>('program_tools'),
      expiresAt: c.time('expires_at'),
      createdAt: c.time('created_at').notNull(),
      lastUsedAt: c.time('last_used_at'),
    },
    (t) => [c.uniqueIndex('api_keys_hash').on(t.hash), c.index('api_keys_user').on(t.userId)],
  )

  /** The responses to requests with an Idempotency-Key. */
  const idempotencyKeys = c.table(
    'idempotency_keys',
    {
      userId: ownedBy(c, users),
      key: c.text('key').notNull(),
      /** A hash of the request: the same key with another request is refused. */
      fingerprint: c.text('fingerprint').notNull(),
      state: c.choice<'pending' | 'finished'>('state').notNull(),
      status: c.integer('status'),
      sealedBody: c.text('sealed_body'),
      /** The run that the request started; its response is read from there. */
      runId: c.key<RunId>('run_id'),
      /** The instance id of the process that claimed it. */
      instance: c.text('instance').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.userId, t.key] }),
      c.index('idempotency_keys_age').on(t.createdAt),
      c.index('idempotency_keys_run').on(t.runId).where(sql`${t.runId} is not null`),
    ],
  )

  return { revokedTokens, sessions, apiKeys, idempotencyKeys }
}
