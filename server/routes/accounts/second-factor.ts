// Routes of second factors: completing a sign-in, an authenticator app, recovery codes.
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Accounts } from '../../auth/accounts.ts'
import type { Passkeys } from '../../auth/second-factor/passkeys.ts'
import type { SecondFactors } from '../../auth/second-factor/second-factors.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
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
import { deleted, success } from '../envelope.ts'
import { presentPasskey, siteOf } from './passkeys.ts'
import type { SessionStart } from './session-start.ts'

/** The dependencies of the routes for second factors. */
export interface SecondFactorRouteDependencies {
  accounts: Accounts
  secondFactors: SecondFactors
  passkeys: Passkeys
  publicUrl: string | undefined
}

/** Refuses a sign-in that requires a second factor. @throws AppError `second_factor_required`. */
export async function assertNoSecondFactor(
  secondFactors: SecondFactors,
  user: UserRow,
): Promise<void> {
  const details = await secondFactors.needed(user)
  if (details !== null) throw appError('second_factor_required', {}, { details })
}

type Dependencies = SecondFactorRouteDependencies & { sessionStart: SessionStart }

/** Completing a sign-in, `/api/auth/second-factors`, `/api/auth/totp` and `/api/auth/recovery-codes`. */
export function registerSecondFactorRoutes(app: App, dependencies: Dependencies): void {
  registerSignIn(app, dependencies)
  registerState(app, dependencies)
  registerTotp(app, dependencies)
  registerRecoveryCodes(app, dependencies)
}

/** The second step of a sign-in. */
function registerSignIn(
  app: App,
  { secondFactors, passkeys, publicUrl, sessionStart }: Dependencies,
): void {
  app.post(
    '/api/auth/login/second-factor',
    {
      config: {
        public: true,
        whileDiskFull: true,
        audit: { action: 'sign_in', failed: 'sign_in_failed' },
      },
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
      request.audited = { username: user.username, userId: user.id, by: 'second factor' }
      try {
        request.audited.by = await complete(request, user, { code, passkey })
      } catch (cause) {
        if (!(cause instanceof AppError) || cause.status >= 500) throw cause
        // Another code would not help.
        if (cause.reason === 'second_factor_unreadable') throw cause
        throw appError('second_factor_refused', {}, { cause })
      }
      const isPage = cookie === true
      return success((await sessionStart.begin(request, reply, { user, isPage })).signedIn)
    },
  )

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
function registerState(app: App, { secondFactors, passkeys, publicUrl }: Dependencies): void {
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
function registerTotp(app: App, { accounts, secondFactors }: Dependencies): void {
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
      config: { signedIn: true, audit: { action: 'second_factor_added' } },
      schema: {
        summary: 'Confirm the authenticator app with its first code; returns recovery codes once',
        body: TotpCodeBody,
        response: { 200: envelope(RecoveryCodes) },
      },
    },
    async (request) => {
      const user = await accounts.profile(request.user.id)
      await secondFactors.limit(user)
      await secondFactors.confirmTotp(user, request.body.code)
      request.audited = { kind: 'totp' }
      return success({ recovery_codes: await secondFactors.ensureRecoveryCodes(user.id) })
    },
  )

  app.post(
    '/api/auth/totp/remove',
    {
      config: { signedIn: true, audit: { action: 'second_factor_removed' } },
      schema: {
        summary: 'Remove the authenticator app',
        body: PasswordBody,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await accounts.assertPassword(request.user.id, request.body.current_password)
      await secondFactors.removeTotp(request.user.id)
      request.audited = { kind: 'totp' }
      return deleted
    },
  )
}

/** Recovery codes. */
function registerRecoveryCodes(app: App, { accounts, secondFactors }: Dependencies): void {
  app.post(
    '/api/auth/recovery-codes',
    {
      config: { signedIn: true, audit: { action: 'recovery_codes_created' } },
      schema: {
        summary: 'Create new recovery codes; the earlier ones stop working',
        body: PasswordBody,
        response: { 200: envelope(RecoveryCodes) },
      },
    },
    async ({ user, body }) => {
      await accounts.assertPassword(user.id, body.current_password)
      const { totp, passkeys: keys } = await secondFactors.state(user.id)
      if (!totp && keys.length === 0) throw appError('second_factor_missing')
      return success({ recovery_codes: await secondFactors.createRecoveryCodes(user.id) })
    },
  )
}
