// Routes for a user's own account: profile and API keys.
import { z } from 'zod'
import type { Accounts } from '../../auth/accounts.ts'
import type { ApiKeys } from '../../auth/api-keys.ts'
import type { EmailLinks } from '../../auth/email-links.ts'
import type { TokenClaims } from '../../auth/tokens.ts'
import type { ApiKeyRow } from '../../db/repositories/accounts/api-keys.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { OpenConnections } from '../../http/open-connections.ts'
import {
  ApiKey,
  ChangedProfile,
  CreateApiKeyBody,
  CreatedApiKey,
  PatchProfileBody,
  User,
} from '../../protocol/accounts/user.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import { deleted, success } from '../envelope.ts'
import { presentUser } from './present-user.ts'

/** The dependencies of the routes of a user's account and API keys. */
export interface AccountRouteDependencies {
  mode: 'single' | 'multi'
  accounts: Accounts
  apiKeys: ApiKeys
  connections: OpenConnections
  emailLinks: Pick<EmailLinks, 'isAvailable'>
}

/** `/api/auth/profile` and `/api/auth/keys`. */
export function registerAccountRoutes(app: App, dependencies: AccountRouteDependencies): void {
  registerProfile(app, dependencies)
  registerKeys(app, dependencies)
}

/** The profile. */
function registerProfile(app: App, dependencies: AccountRouteDependencies): void {
  const { mode, accounts, apiKeys, connections, emailLinks } = dependencies

  const keyIds = async (userId: UserId): Promise<string[]> =>
    (await apiKeys.list(userId)).map(({ id }) => id)

  app.get(
    '/api/auth/profile',
    { schema: { summary: 'Get your account', response: { 200: envelope(User) } } },
    async ({ user }) => success(presentUser(await accounts.profile(user.id))),
  )

  app.patch(
    '/api/auth/profile',
    {
      config: { audit: { action: 'account_changed', fields: ['email', 'revoke_keys'] } },
      schema: {
        summary: 'Update your account; a new password revokes all other tokens',
        description:
          'API keys remain valid after a password change unless `revoke_keys` is true; `api_keys` is their number. On a server that emails password links, changing `email` also requires `current_password`.',
        body: PatchProfileBody,
        response: { 200: envelope(ChangedProfile) },
      },
    },
    async (request, reply) => {
      const { user, session, body } = request
      if (mode === 'single' && body.password !== undefined)
        throw appError('no_password_in_single_mode')
      const { user: changed, apiKeys: keyCount } = await accounts.changeProfile(user.id, {
        email: body.email,
        emailNeedsPassword: emailLinks.isAvailable,
        avatar: body.avatar,
        password: body.password,
        currentPassword: body.current_password,
        kept: session ?? undefined,
        revokeKeys: body.revoke_keys,
      })
      if (body.password !== undefined) request.audited = { password_changed: true }
      if (body.password !== undefined)
        connections.end(user.id, {
          kept: reply.raw,
          except: [
            credentialOf(session),
            ...(body.revoke_keys === true ? [] : await keyIds(user.id)),
          ],
        })
      return success({ ...presentUser(changed), api_keys: keyCount })
    },
  )
}

/** API keys. */
function registerKeys(app: App, { apiKeys, connections }: AccountRouteDependencies): void {
  app.get(
    '/api/auth/keys',
    {
      schema: {
        summary: 'List your API keys',
        response: { 200: envelope(z.object({ items: z.array(ApiKey) })) },
      },
    },
    async ({ user }) => success({ items: (await apiKeys.list(user.id)).map(presentKey) }),
  )

  app.post(
    '/api/auth/keys',
    {
      config: {
        signedIn: true,
        audit: { action: 'key_created', fields: ['name', 'scopes', 'expires_at'] },
      },
      schema: {
        summary: 'Create an API key; the key is returned only once',
        body: CreateApiKeyBody,
        response: { 200: envelope(CreatedApiKey) },
      },
    },
    async ({ user, body }) => {
      const { row, key } = await apiKeys.create(user, {
        name: body.name,
        scopes: body.scopes ?? null,
        expiresAt: body.expires_at === undefined ? null : new Date(body.expires_at),
      })
      return success({ ...presentKey(row), key })
    },
  )

  app.delete(
    '/api/auth/keys/:id',
    {
      config: { audit: { action: 'key_deleted' } },
      schema: {
        summary: 'Delete an API key',
        params: z.object({ id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async ({ user, params }, reply) => {
      await apiKeys.remove(user.id, params.id)
      connections.end(user.id, { only: params.id, kept: reply.raw })
      return deleted
    },
  )
}

const credentialOf = (session: TokenClaims | null): string => session?.sid ?? session?.jti ?? ''

const presentKey = (key: ApiKeyRow): z.infer<typeof ApiKey> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
})
