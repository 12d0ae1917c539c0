// Routes for a user's own account: profile and API keys.

import { z } from 'zod'
import type { TokenClaims } from '../../auth/tokens.ts'
import type { ApiKeyRow } from '../../db/repositories/accounts/api-keys.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
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
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'
import { presentUser } from './present-user.ts'

/** `/api/auth/profile` and `/api/auth/keys`. */
export function registerAccountRoutes(
  app: App,
  services: Pick<Services, 'authMode' | 'accounts' | 'apiKeys' | 'connections' | 'emailLinks'>,
): void {
  registerProfile(app, services)
  registerKeys(app, services)
}

/** The profile. */
function registerProfile(
  app: App,
  {
    authMode,
    accounts,
    apiKeys,
    connections,
    emailLinks,
  }: Pick<Services, 'authMode' | 'accounts' | 'apiKeys' | 'connections' | 'emailLinks'>,
): void {
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
      if (authMode === 'single' && body.password !== undefined)
        throw appError('no_password_in_single_mode')
      const changes = {
        email: body.email,
        emailNeedsPassword: emailLinks.isAvailable,
        avatar: body.avatar,
        password: body.password,
        currentPassword: body.current_password,
        kept: session ?? undefined,
        revokeKeys: body.revoke_keys,
      }
      const actor = actorOf(request)
      const { user: changed, apiKeys: count } = await accounts.changeProfile(
        user.id,
        changes,
        actor,
      )
      if (body.password !== undefined)
        connections.end(user.id, {
          kept: reply.raw,
          except: [
            credentialOf(session),
            ...(body.revoke_keys === true ? [] : await keyIds(user.id)),
          ],
        })
      return success({ ...presentUser(changed), api_keys: count })
    },
  )
}

/** API keys. */
function registerKeys(
  app: App,
  { apiKeys, connections }: Pick<Services, 'apiKeys' | 'connections'>,
): void {
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
      config: { signedIn: true },
      schema: {
        summary: 'Create an API key; the key is returned only once',
        body: CreateApiKeyBody,
        response: { 200: envelope(CreatedApiKey) },
      },
    },
    async (request) => {
      const { user, body } = request
      const settings = {
        name: body.name,
        scopes: body.scopes ?? null,
        programTools: body.program_tools ?? null,
        expiresAt: body.expires_at === undefined ? null : new Date(body.expires_at),
      }
      const { row, key } = await apiKeys.create(user, settings, actorOf(request))
      return success({ ...presentKey(row), key })
    },
  )

  app.delete(
    '/api/auth/keys/:id',
    {
      schema: {
        summary: 'Delete an API key',
        params: z.object({ id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { user, params } = request
      await apiKeys.remove(user.id, params.id, actorOf(request))
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
  program_tools: key.programTools,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
})
