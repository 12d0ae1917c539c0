// Routes of second factors: completing a sign-in, an authenticator app, recovery codes.

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { SecondFactors } from '../../auth/second-factor/second-factors.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import {
  NewTotp,
  PasswordBody,
  RecoveryCodes,
  SecondFactorBody,
  SecondFactors as SecondFactorState,
  TotpCodeBody,
} from '../../protocol/accounts/second-factor.ts'
import { SignedIn } from '../../protocol/accounts/user.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'
import { presentPasskey, siteOf } from './passkeys.ts'
import type { SessionStart } from './session-start.ts'

/** Refuses a sign-in that requires a second factor. @throws AppError `second_factor_required`. */
export async function assertNoSecondFactor(
  secondFactors: SecondFactors,
  user: UserRow,
): Promise<void> {
  const details = await secondFactors.needed(user)
  if (details !== null) throw appError('second_factor_required', {}, { details })
}

/** Completing a sign-in, `/api/auth/second-factors`, `/api/auth/totp` and `/api/auth/recovery-codes`. */
export function registerSecondFactorRoutes(
  app: App,
  services: Pick<Services, 'accounts' | 'secondFactors' | 'passkeys' | 'publicUrl'>,
  sessionStart: SessionStart,
): void {
  registerSignIn(app, services, sessionStart)
  registerState(app, services)
  registerTotp(app, services)
  registerRecoveryCodes(app, services)
}

/** The second step of a sign-in. */
function registerSignIn(
  app: App,
  {
    secondFactors,
    passkeys,
    publicUrl,
  }: Pick<Services, 'secondFactors' | 'passkeys' | 'publicUrl'>,
  sessionStart: SessionStart,
): void {
  app.post(
    '/api/auth/login/second-factor',
    {
      config: { public: true, whileDiskFull: true },
      schema: {
        summary: 'Complete a sign-in with a code or a passkey',
        description:
          'Use this after `POST /api/auth/login` fails with the reason `second_factor_required`. The `details` of that error contain the `challenge` and the available second factors.',
        body: SecondFactorBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      const { challenge, code, passkey, cookie } = request.body
      const user = await secondFactors.challenged(challenge)
      await secondFactors.limit(user)
      return sessionStart.attempt(request, async (attempt) => {
        attempt.account = user
        attempt.details = { by: 'second factor' }
        const by = await complete(request, user, { code, passkey }).catch(refuse)
        attempt.details = { by }
        const start = { user, isPage: cookie === true, signIn: { by } }
        return success((await sessionStart.begin(request, reply, start)).signedIn)
      })
    },
  )

  function refuse(cause: unknown): never {
    if (!(cause instanceof AppError) || cause.status >= 500) throw cause
    // Another code would not help.
    if (cause.reason === 'second_factor_unreadable') throw cause
    throw appError('second_factor_refused', {}, { cause })
  }

  /** @returns which factor was used. */
  async function complete(
    request: FastifyRequest,
    user: UserRow,
    { code, passkey }: Pick<z.output<typeof SecondFactorBody>, 'code' | 'passkey'>,
  ): Promise<string> {
    if (code !== undefined) return secondFactors.acceptCode(user, code)
    if (passkey === undefined) throw appError('second_factor_code_wrong')
    const owner = await passkeys.verify(siteOf(request, publicUrl), passkey)
    if (owner.id !== user.id) throw appError('passkey_invalid')
    return 'passkey'
  }
}

/** Which second factors an account has. */
function registerState(
  app: App,
  {
    secondFactors,
    passkeys,
    publicUrl,
  }: Pick<Services, 'secondFactors' | 'passkeys' | 'publicUrl'>,
): void {
  app.get(
    '/api/auth/second-factors',
    {
      schema: {
        summary: 'List your second factors',
        response: { 200: envelope(SecondFactorState) },
      },
    },
    async (request) => {
      const state = await secondFactors.state(request.user.id)
      return success({
        totp: state.totp,
        passkeys: state.passkeys.map(presentPasskey),
        recovery_codes: state.recoveryCodes,
        passkeys_available: passkeys.areAvailable(siteOf(request, publicUrl)),
      })
    },
  )
}

/** An authenticator app. */
function registerTotp(
  app: App,
  { accounts, secondFactors }: Pick<Services, 'accounts' | 'secondFactors'>,
): void {
  app.post(
    '/api/auth/totp',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Start setting up an authenticator app',
        body: PasswordBody,
        response: { 200: envelope(NewTotp) },
      },
    },
    async ({ user, body }) => {
      await accounts.assertPassword(user.id, body.current_password)
      return success(await secondFactors.beginTotp(await accounts.profile(user.id)))
    },
  )

  app.post(
    '/api/auth/totp/confirm',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Confirm the authenticator app with its first code; returns recovery codes once',
        body: TotpCodeBody,
        response: { 200: envelope(RecoveryCodes) },
      },
    },
    async (request) => {
      const user = await accounts.profile(request.user.id)
      await secondFactors.limit(user)
      await secondFactors.confirmTotp(user, request.body.code, actorOf(request))
      return success({ recovery_codes: await secondFactors.ensureRecoveryCodes(user.id) })
    },
  )

  app.post(
    '/api/auth/totp/remove',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Remove the authenticator app',
        body: PasswordBody,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await accounts.assertPassword(request.user.id, request.body.current_password)
      await secondFactors.removeTotp(request.user.id, actorOf(request))
      return deleted
    },
  )
}

/** Recovery codes. */
function registerRecoveryCodes(
  app: App,
  { accounts, secondFactors }: Pick<Services, 'accounts' | 'secondFactors'>,
): void {
  app.post(
    '/api/auth/recovery-codes',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Create new recovery codes; the earlier ones stop working',
        body: PasswordBody,
        response: { 200: envelope(RecoveryCodes) },
      },
    },
    async (request) => {
      const { user, body } = request
      await accounts.assertPassword(user.id, body.current_password)
      const codes = await secondFactors.createRecoveryCodes(user.id, actorOf(request))
      return success({ recovery_codes: codes })
    },
  )
}
