// Routes for links by email: a forgotten password, and confirming an address.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Language } from '../../../locales/languages.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import {
  ConfirmationBody,
  ConfirmationState,
  ForgottenPasswordBody,
  LinkBody,
} from '../../protocol/accounts/user.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { documentLanguage, folderOf } from '../../sharing/document-texts.ts'
import { success } from '../envelope.ts'

const languageOf = ({ headers }: FastifyRequest): Language =>
  folderOf(documentLanguage(headers['accept-language']))

/** `/api/auth/forgotten-password` and `/api/auth/confirmations`; in multi mode only. */
export function registerEmailLinkRoutes(
  app: App,
  { accounts, emailLinks }: Pick<Services, 'accounts' | 'emailLinks'>,
): void {
  const stateOf = async (user: FastifyRequest['user']) => {
    const { email: address } = await accounts.profile(user.id)
    const missing = address === null ? [] : await emailLinks.unconfirmed(user.id, [address])
    return { address, is_confirmed: address !== null && missing.length === 0 }
  }

  app.post(
    '/api/auth/forgotten-password',
    {
      config: { public: true },
      schema: {
        summary: 'Email a password link to the confirmed address of an account',
        description:
          'The response is the same whether or not the account exists. The link works once, within an hour; using it ends all sessions.',
        body: ForgottenPasswordBody,
        response: {
          200: envelope(
            z.object({
              accepted: z
                .literal(true)
                .describe('Always true, whether or not there is such an account.'),
            }),
          ),
        },
      },
    },
    async (request) => {
      const { email } = request.body
      await emailLinks.forgotPassword(email, {
        address: request.ip,
        language: languageOf(request),
      })
      return success({ accepted: true as const })
    },
  )

  app.get(
    '/api/auth/confirmations',
    {
      schema: {
        summary: 'Get whether the email address of your account is confirmed',
        response: { 200: envelope(ConfirmationState) },
      },
    },
    async ({ user }) => success(await stateOf(user)),
  )

  app.post(
    '/api/auth/confirmations',
    {
      schema: {
        summary: 'Email a link to confirm an address',
        description:
          'The server sends email only to confirmed addresses: password links to the address of the account, messages to the addresses of email channels.',
        body: ConfirmationBody,
        response: { 200: envelope(ConfirmationState) },
      },
    },
    async (request) => {
      const { user, body } = request
      const address = body.address ?? (await accounts.profile(user.id)).email
      if (address === null) throw appError('address_missing')
      const missing = await emailLinks.unconfirmed(user.id, [address])
      if (missing.length > 0)
        await emailLinks.requestConfirmation(user.id, address, languageOf(request))
      return success({ address, is_confirmed: missing.length === 0 })
    },
  )

  app.post(
    '/api/auth/confirmations/confirm',
    {
      config: { public: true },
      schema: {
        summary: 'Confirm an address with the token of an emailed link',
        body: LinkBody,
        response: {
          200: envelope(z.object({ confirmed: z.literal(true).describe('Always true.') })),
        },
      },
    },
    async ({ body }) => {
      await emailLinks.confirm(body.link)
      return success({ confirmed: true as const })
    },
  )
}
