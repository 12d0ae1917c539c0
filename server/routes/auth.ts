// Routes for signing in, the profile and API keys.
import { z } from 'zod'
import type { Accounts } from '../auth/accounts.ts'
import type { ApiKeys } from '../auth/api-keys.ts'
import type { ApiKeyRow, UserRow } from '../db/repositories/users.ts'
import { appError } from '../errors.ts'
import type { App } from '../http/app.ts'
import type { IssueToken } from '../http/authentication.ts'
import { Deleted, envelope } from '../protocol/envelope.ts'
import {
  ApiKey,
  AuthMode,
  ChangedProfile,
  CreateApiKeyBody,
  CreatedApiKey,
  LoginBody,
  PatchProfileBody,
  RegisterBody,
  SignedIn,
  User,
} from '../protocol/user.ts'
import { deleted, success } from './envelope.ts'

export interface AuthRouteDependencies {
  mode: 'single' | 'multi'
  registration: 'open' | 'closed'
  accounts: Accounts
  apiKeys: ApiKeys
  issueToken: IssueToken
}

/** `/api/auth/…`. In single-user mode, registering and signing in return 403. */
export function registerAuthRoutes(app: App, dependencies: AuthRouteDependencies): void {
  const { mode, registration, accounts, apiKeys, issueToken } = dependencies
  const assertMultiUser = (): void => {
    if (mode === 'single') throw appError('single_user')
  }

  app.get(
    '/api/auth/mode',
    {
      config: { public: true },
      schema: {
        summary: 'Get the authentication mode of this server',
        response: { 200: envelope(AuthMode) },
      },
    },
    async () =>
      success({
        mode,
        registration,
        ...(mode === 'single' || (await accounts.exist()) ? {} : { first_user: true as const }),
      }),
  )

  app.post(
    '/api/auth/register',
    {
      config: { public: true },
      schema: {
        summary: 'Register an account; the first account becomes an administrator',
        body: RegisterBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async ({ body, ip }) => {
      assertMultiUser()
      const user = await accounts.register(body, ip)
      return success({ token: issueToken(user), user: presentUser(user) })
    },
  )

  app.post(
    '/api/auth/login',
    {
      config: { public: true },
      schema: {
        summary: 'Sign in; the token is valid for seven days',
        body: LoginBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async ({ body, ip }) => {
      assertMultiUser()
      const user = await accounts.login(body, ip)
      return success({ token: issueToken(user), user: presentUser(user) })
    },
  )

  app.post(
    '/api/auth/logout',
    {
      schema: {
        summary: 'Revoke the current token',
        response: { 200: Deleted },
      },
    },
    async ({ session }) => {
      if (session !== null) await accounts.logout(session)
      return { code: 0 as const, message: 'signed out' }
    },
  )

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
          'API keys remain valid after a password change unless `revoke_keys` is true; `api_keys` is their number.',
        body: PatchProfileBody,
        response: { 200: envelope(ChangedProfile) },
      },
    },
    async ({ user, session, body }) => {
      if (mode === 'single' && body.password !== undefined)
        throw appError('no_password_in_single_mode')
      const { user: changed, apiKeys: keyCount } = await accounts.changeProfile(user.id, {
        email: body.email,
        avatar: body.avatar,
        password: body.password,
        currentPassword: body.current_password,
        keptToken: session?.jti,
        revokeKeys: body.revoke_keys,
      })
      return success({ ...presentUser(changed), api_keys: keyCount })
    },
  )

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
      schema: {
        summary: 'Create an API key; the key is returned only once',
        body: CreateApiKeyBody,
        response: { 200: envelope(CreatedApiKey) },
      },
    },
    async ({ user, body }) => {
      const { row, key } = await apiKeys.create(user, body.name)
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
    async ({ user, params }) => {
      await apiKeys.remove(user.id, params.id)
      return deleted
    },
  )
}

/** The wire format of an account, for its owner and for administrators. */
export const presentUser = (user: UserRow): User => ({
  id: user.id,
  username: user.username,
  email: user.email,
  avatar: user.avatar,
  role: user.role,
  is_active: user.isActive,
  created_at: user.createdAt.toISOString(),
})

const presentKey = (key: ApiKeyRow): z.infer<typeof ApiKey> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
})
