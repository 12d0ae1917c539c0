// Tables of accounts and of what belongs to a user or to the whole server.

import type { Preferences } from '../../protocol/accounts/preferences.ts'
import type { PatchQuota } from '../../protocol/accounts/quota.ts'
import type { ApiKeyScope } from '../../protocol/accounts/user.ts'
import type { StoredFailure } from '../../protocol/failures/stored.ts'
import type { ConversationId, RunId, UserId } from '../../protocol/ids.ts'
import type { Columns } from '../columns/postgres.ts'

export function defineAccountTables(c: Columns) {
  const users = c.table(
    'users',
    {
      id: c.key<UserId>('id').primaryKey(),
      username: c.text('username').notNull(),
      /** The name folded for comparison, so that names that differ only in case are the same. */
      usernameKey: c.text('username_key').notNull(),
      /** Null: nobody can sign in with a password (the user of single mode). */
      passwordHash: c.text('password_hash'),
      email: c.text('email'),
      emailKey: c.text('email_key'),
      avatar: c.text('avatar'),
      role: c.choice<'admin' | 'user'>('role').notNull(),
      isActive: c.boolean('is_active').notNull(),
      /** Incremented to revoke every token issued before. */
      tokenVersion: c.integer('token_version').notNull(),
      /**
       * The `jti` of the one older token that stays valid after the last increment: the session that changed the
       * password.
       */
      keptToken: c.text('kept_token'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('users_username_key').on(t.usernameKey),
      c.uniqueIndex('users_email_key').on(t.emailKey),
    ],
  )

  const owner = () =>
    c
      .key<UserId>('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' })

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
      userId: owner(),
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
      userId: owner(),
      name: c.text('name').notNull(),
      prefix: c.text('prefix').notNull(),
      hash: c.text('hash').notNull(),
      /** What the key may do; null: everything that its owner may. */
      scopes: c.json<ApiKeyScope[]>('scopes'),
      expiresAt: c.time('expires_at'),
      createdAt: c.time('created_at').notNull(),
      lastUsedAt: c.time('last_used_at'),
    },
    (t) => [c.uniqueIndex('api_keys_hash').on(t.hash), c.index('api_keys_user').on(t.userId)],
  )

  /** Links that an administrator hands to a person: to register, or to choose a new password. */
  const accountLinks = c.table(
    'account_links',
    {
      id: c.text('id').primaryKey(),
      kind: c.choice<'invitation' | 'reset' | 'confirmation'>('kind').notNull(),
      /** SHA-256 of the token in the link. */
      hash: c.text('hash').notNull(),
      /** The role of the account that an invitation creates. */
      role: c.choice<'admin' | 'user'>('role').notNull(),
      /** The limits of that account; null: none of its own. */
      quota: c.json<PatchQuota>('quota'),
      /** With a confirmation, the e-mail address. */
      note: c.text('note'),
      /** The administrator who created it: it ends with their role. Null: created on the command line. */
      createdBy: c.key<UserId>('created_by').references(() => users.id, { onDelete: 'cascade' }),
      /** The account of a reset; with an invitation, the account that it created. */
      userId: c.key<UserId>('user_id').references(() => users.id, { onDelete: 'cascade' }),
      createdAt: c.time('created_at').notNull(),
      expiresAt: c.time('expires_at').notNull(),
      usedAt: c.time('used_at'),
    },
    (t) => [
      c.uniqueIndex('account_links_hash').on(t.hash),
      c.index('account_links_created').on(t.kind, t.createdAt, t.id),
      c.index('account_links_user').on(t.userId),
      c.index('account_links_creator').on(t.createdBy),
    ],
  )

  /** What requests with an Idempotency-Key were answered. */
  const idempotencyKeys = c.table(
    'idempotency_keys',
    {
      userId: owner(),
      key: c.text('key').notNull(),
      /** A hash of the request: the same key with another request is refused. */
      fingerprint: c.text('fingerprint').notNull(),
      state: c.choice<'pending' | 'finished'>('state').notNull(),
      status: c.integer('status'),
      sealedBody: c.text('sealed_body'),
      /** The run that the request started; its response is read from there. */
      runId: c.key<RunId>('run_id'),
      /** The instance id of the process that took it. */
      instance: c.text('instance').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.userId, t.key] }),
      c.index('idempotency_keys_age').on(t.createdAt),
    ],
  )

  /** One row per hour, model and currency; the price is that of the time of use. */
  const tokenUsage = c.table(
    'token_usage',
    {
      userId: owner(),
      /** `YYYY-MM-DD`, UTC. */
      day: c.text('day').notNull(),
      hour: c.integer('hour').notNull(),
      model: c.text('model').notNull(),
      /** '' where the model has no price. */
      currency: c.text('currency').notNull().default(''),
      promptTokens: c.bigInteger('prompt_tokens').notNull(),
      completionTokens: c.bigInteger('completion_tokens').notNull(),
      /** Parts of the prompt tokens: read from the provider's cache, and written to it. */
      cachedTokens: c.bigInteger('cached_tokens').notNull().default(0),
      cacheWriteTokens: c.bigInteger('cache_write_tokens').notNull().default(0),
      /** Part of the completion tokens. */
      reasoningTokens: c.bigInteger('reasoning_tokens').notNull().default(0),
      cost: c.real('cost').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.day, t.hour, t.model, t.currency] })],
  )

  const preferences = c.table('preferences', {
    userId: owner().primaryKey(),
    value: c.json<Preferences>('value').notNull(),
  })

  const memories = c.table('memories', {
    userId: owner().primaryKey(),
    content: c.text('content').notNull(),
    updatedAt: c.time('updated_at').notNull(),
  })

  const channels = c.table(
    'channels',
    {
      id: c.text('id').primaryKey(),
      userId: owner(),
      type: c.text('type').notNull(),
      name: c.text('name').notNull(),
      sealedSettings: c.text('sealed_settings').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [c.uniqueIndex('channels_user_name').on(t.userId, t.name)],
  )

  const deliveries = c.table(
    'deliveries',
    {
      id: c.text('id').primaryKey(),
      userId: owner(),
      channelId: c
        .text('channel_id')
        .notNull()
        .references(() => channels.id, { onDelete: 'cascade' }),
      /** The conversation that the message came from, if any; it may be deleted. */
      conversationId: c.key<ConversationId>('conversation_id'),
      content: c.text('content').notNull(),
      status: c.choice<'pending' | 'delivered' | 'failed'>('status').notNull(),
      attempts: c.integer('attempts').notNull(),
      nextAttemptAt: c.time('next_attempt_at'),
      lastError: c.text('last_error'),
      /** The reason and parameters of `lastError`, for translation. */
      lastFailure: c.json<StoredFailure>('last_failure'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.index('deliveries_due').on(t.status, t.nextAttemptAt),
      c.index('deliveries_channel').on(t.channelId),
    ],
  )

  /** Models that an administrator added; those of `config.yml` are not stored. */
  const models = c.table('models', {
    id: c.text('id').primaryKey(),
    settings: c.json<unknown>('settings').notNull(),
    sealedApiKey: c.text('sealed_api_key'),
    createdAt: c.time('created_at').notNull(),
  })

  /** MCP servers that an administrator added, and those of `config.yml` that one switched. */
  const mcpServers = c.table('mcp_servers', {
    name: c.text('name').primaryKey(),
    /** Its settings with address and headers; null for a server of `config.yml`. */
    sealedSettings: c.text('sealed_settings'),
    isEnabled: c.boolean('is_enabled').notNull(),
    createdAt: c.time('created_at').notNull(),
  })

  /** Users who signed in to MCP servers; the tokens are sealed. */
  const mcpGrants = c.table(
    'mcp_grants',
    {
      userId: owner(),
      /** Its name in the configuration. */
      server: c.text('server').notNull(),
      sealed: c.text('sealed').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.server] })],
  )

  /** How authorization servers of MCP servers know this installation. */
  const mcpClients = c.table(
    'mcp_clients',
    {
      issuer: c.text('issuer').notNull(),
      redirectUri: c.text('redirect_uri').notNull(),
      sealed: c.text('sealed').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.issuer, t.redirectUri] })],
  )

  /** Sign-ins to MCP servers that users have begun: whichever instance they come back to finishes them. */
  const mcpSignIns = c.table(
    'mcp_sign_ins',
    {
      /** Of the `state` in the address, which only the user's browser and the authorization server know. */
      stateHash: c.text('state_hash').primaryKey(),
      userId: owner(),
      sealed: c.text('sealed').notNull(),
      expiresAt: c.time('expires_at').notNull(),
    },
    (t) => [
      c.index('mcp_sign_ins_user').on(t.userId, t.expiresAt),
      c.index('mcp_sign_ins_expiry').on(t.expiresAt),
    ],
  )

  const settings = c.table('settings', {
    key: c.text('key').primaryKey(),
    value: c.json<unknown>('value').notNull(),
  })

  return {
    users,
    revokedTokens,
    sessions,
    apiKeys,
    accountLinks,
    idempotencyKeys,
    tokenUsage,
    memories,
    preferences,
    channels,
    deliveries,
    models,
    mcpServers,
    mcpGrants,
    mcpClients,
    mcpSignIns,
    settings,
  }
}
