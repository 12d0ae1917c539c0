// Routes of passkeys: signing in with one, adding and removing them.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Site } from '../../auth/second-factor/passkeys.ts'
import type { PasskeyRow } from '../../db/repositories/accounts/second-factors.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import {
  AddedPasskey,
  NewPasskeyBody,
  type Passkey,
  PasskeyOptions,
  PasskeyOptionsBody,
  PasskeySignInBody,
  PasswordBody,
} from '../../protocol/accounts/second-factor.ts'
import { SignedIn } from '../../protocol/accounts/user.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'
import { browserOf, type SessionStart } from './session-start.ts'

/** The origin at which the browser sees the page. */
export function siteOf(
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
  publicUrl: string | undefined,
): Site {
  const url = publicUrl ?? `${protocol}://${host}`
  // Clients may send any Host; passkeys work only with one that is a valid address.
  return { origin: URL.canParse(url) ? new URL(url).origin : '' }
}

/** Per address, or known browser. Passkeys cannot be guessed, so this only bounds the work. */
const ATTEMPTS = { limit: 100, windowMs: 5 * 60_000 }

/** `/api/auth/passkeys` and what is below it. */
export function registerPasskeyRoutes(
  app: App,
  services: Pick<
    Services,
    'accounts' | 'secondFactors' | 'passkeys' | 'publicUrl' | 'limits' | 'knownBrowsers'
  >,
  sessionStart: SessionStart,
): void {
  registerSignIn(app, services, sessionStart)
  registerOwn(app, services)
}

/** Signing in with a passkey. */
function registerSignIn(
  app: App,
  {
    accounts,
    secondFactors,
    passkeys,
    publicUrl,
    limits,
    knownBrowsers,
  }: Pick<
    Services,
    'accounts' | 'secondFactors' | 'passkeys' | 'publicUrl' | 'limits' | 'knownBrowsers'
  >,
  sessionStart: SessionStart,
): void {
  const attempts = limits.rateLimit('passkeys', ATTEMPTS)
  const limit = async (request: FastifyRequest): Promise<void> => {
    const retryAfter = await attempts.acquire(browserOf(request, { knownBrowsers }).source)
    if (retryAfter !== null) throw appError('sign_ins_exhausted', {}, { retryAfter })
  }

  app.post(
    '/api/auth/passkeys/options',
    {
      config: { public: true, whileDiskFull: true },
      schema: {
        summary: 'Start signing in with a passkey',
        description:
          'With the `challenge` of a sign-in that needs a second factor, for that account only.',
        body: PasskeyOptionsBody,
        response: { 200: envelope(PasskeyOptions) },
      },
    },
    async (request) => {
      await limit(request)
      const { challenge } = request.body
      const user = challenge === undefined ? undefined : await secondFactors.challenged(challenge)
      return present(await passkeys.beginSignIn(siteOf(request, publicUrl), user?.id))
    },
  )

  app.post(
    '/api/auth/passkeys/sign-in',
    {
      config: { public: true, whileDiskFull: true },
      schema: {
        summary: 'Sign in with a passkey instead of a password',
        body: PasskeySignInBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      await limit(request)
      const { challenge, response, cookie } = request.body
      return sessionStart.attempt(request, async (attempt) => {
        attempt.details = { by: 'passkey' }
        const user = await passkeys.verify(siteOf(request, publicUrl), { challenge, response })
        accounts.assertMaySignIn(user)
        attempt.account = user
        const start = { user, isPage: cookie === true, signIn: { by: 'passkey' } }
        return success((await sessionStart.begin(request, reply, start)).signedIn)
      })
    },
  )
}

/** The passkeys of an account. */
function registerOwn(
  app: App,
  {
    accounts,
    secondFactors,
    passkeys,
    publicUrl,
  }: Pick<Services, 'accounts' | 'secondFactors' | 'passkeys' | 'publicUrl'>,
): void {
  app.post(
    '/api/auth/passkeys',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Start adding a passkey',
        body: PasswordBody,
        response: { 200: envelope(PasskeyOptions) },
      },
    },
    async (request) => {
      const { user, body } = request
      await accounts.assertPassword(user.id, body.current_password)
      const owner = await accounts.profile(user.id)
      return present(await passkeys.beginRegistration(owner, siteOf(request, publicUrl)))
    },
  )

  app.post(
    '/api/auth/passkeys/confirm',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Add the passkey that the browser created; returns recovery codes once',
        body: NewPasskeyBody,
        response: { 200: envelope(AddedPasskey) },
      },
    },
    async (request) => {
      const user = await accounts.profile(request.user.id)
      const site = siteOf(request, publicUrl)
      const passkey = await passkeys.register(user, site, request.body, actorOf(request))
      return success({
        passkey: presentPasskey(passkey),
        recovery_codes: await secondFactors.ensureRecoveryCodes(user.id),
      })
    },
  )

  app.post(
    '/api/auth/passkeys/:id/remove',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Remove a passkey',
        params: z.object({ id: z.string().max(1400) }),
        body: PasswordBody,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await accounts.assertPassword(request.user.id, request.body.current_password)
      await secondFactors.removePasskey(request.user.id, request.params.id, actorOf(request))
      return deleted
    },
  )
}

const present = ({ options, challenge }: { options: object; challenge: string }) =>
  success({ options: { ...options }, challenge })

/** The wire format of a passkey. */
export const presentPasskey = (row: PasskeyRow): Passkey => ({
  id: row.id,
  name: row.name,
  created_at: row.createdAt.toISOString(),
  last_used_at: row.lastUsedAt?.toISOString() ?? null,
})
