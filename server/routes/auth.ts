// Routes for signing in, the profile and API keys.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountLinks } from '../auth/account-links.ts'
import type { Accounts, Client } from '../auth/accounts.ts'
import type { ApiKeys } from '../auth/api-keys.ts'
import type { SetupToken } from '../auth/setup-token.ts'
import type { ApiKeyRow, UserRow } from '../db/repositories/users.ts'
import { appError } from '../errors.ts'
import type { App } from '../http/app.ts'
import type { IssueToken } from '../http/authentication.ts'
import { isLocalRequest } from '../http/local-client.ts'
import { Deleted, envelope } from '../protocol/envelope.ts'
import {
  AccountLink,
  ApiKey,
  AuthMode,
  ChangedProfile,
  CreateApiKeyBody,
  CreatedApiKey,
  LinkToken,
  LoginBody,
  PatchProfileBody,
  RegisterBody,
  ResetPasswordBody,
  SignedIn,
  User,
} from '../protocol/user.ts'
import { deleted, success } from './envelope.ts'

export interface AuthRouteDependencies {
  mode: 'single' | 'multi'
  registration: 'open' | 'invite' | 'closed'
  /** A reverse proxy stands in front of this server, so no request counts as one of this machine. */
  behindProxy: boolean
  accounts: Accounts
  links: AccountLinks
  setup: SetupToken
  apiKeys: ApiKeys
  issueToken: IssueToken
}

/** `/api/auth/…`. In single-user mode, registering and signing in return 403. */
export function registerAuthRoutes(app: App, dependencies: AuthRouteDependencies): void {
  const { mode, registration, behindProxy, accounts, links, setup, apiKeys, issueToken } =
    dependencies
  const clientOf = (request: FastifyRequest): Client => ({
    address: request.ip,
    isLocal: !behindProxy && isLocalRequest(request),
  })
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
    async (request) => {
      if (mode === 'single' || (await accounts.exist())) return success({ mode, registration })
      return success({
        mode,
        registration,
        ...(accounts.mayBeFirst(clientOf(request))
          ? { first_user: true as const }
          : { setup_link: true as const }),
      })
    },
  )

  app.post(
    '/api/auth/register',
    {
      config: { public: true },
      schema: {
        summary: 'Register an account; the first account becomes an administrator',
        description:
          'The first account takes the set-up link that the server prints when it starts, or a client on the same machine. `link` is the token of that link or of an invitation.',
        body: RegisterBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request) => {
      assertMultiUser()
      const user = await accounts.register(request.body, clientOf(request))
      return success({ token: issueToken(user), user: presentUser(user) })
    },
  )

  app.post(
    '/api/auth/links',
    {
      config: { public: true },
      schema: {
        summary: 'Find out what a set-up, invitation or reset link is for',
        body: z.object({ link: LinkToken }),
        response: { 200: envelope(AccountLink) },
      },
    },
    async ({ body }) => {
      assertMultiUser()
      if (setup.matches(body.link) && !(await accounts.exist()))
        return success<AccountLink>({
          kind: 'setup',
          role: 'admin',
          username: null,
          expires_at: null,
        })
      const link = await links.find(body.link)
      if (link === undefined) throw appError('account_link_invalid')
      const { kind, role, userId } = link
      const expiresAt = link.expiresAt.toISOString()
      if (kind === 'invitation' || userId === null)
        return success<AccountLink>({ kind, role, username: null, expires_at: expiresAt })
      const { username } = await accounts.profile(userId)
      return success<AccountLink>({ kind, role: null, username, expires_at: expiresAt })
    },
  )

  app.post(
    '/api/auth/reset',
    {
      config: { public: true },
      schema: {
        summary: 'Choose a new password with a reset link, and sign in',
        description: 'Revokes all tokens of the account; with `revoke_keys`, its API keys too.',
        body: ResetPasswordBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async ({ body }) => {
      assertMultiUser()
      const user = await accounts.resetPassword(body.link, {
        password: body.password,
        revokeKeys: body.revoke_keys,
      })
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
