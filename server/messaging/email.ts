// Messages by e-mail, over the SMTP server that the operator configured.
import { z } from 'zod'
import { untilAborted } from '../lib/abort.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import { defineChannelKind } from './channel-kind.ts'

export interface SmtpSettings {
  host: string
  port: number
  user?: string | undefined
  password?: string | undefined
  from: string
  /** Allowed recipients: addresses (`ann@example.org`) and domains (`@example.org`). Default: everyone. */
  allowed_recipients?: readonly string[] | undefined
}

const TIMEOUT_MS = 20_000
const MAX_SUBJECT_CHARACTERS = 100
const Addresses = z.union([z.email().transform((one) => [one]), z.array(z.email()).min(1).max(10)])

/** Without `smtp` in the configuration, this kind of channel cannot be created. */
export const createEmailKind = (dependencies: { smtp: SmtpSettings | undefined }) =>
  defineChannelKind({
    type: 'email',
    settings: z
      .object({ to: Addresses })
      .refine(() => dependencies.smtp !== undefined, {
        error: 'this server has no `smtp` in its configuration, so it cannot send e-mail',
      })
      .refine(({ to }) => to.every((address) => mayReceive(address, dependencies.smtp)), {
        path: ['to'],
        error: 'this server does not send to every address; ask an administrator which are allowed',
      }),
    present: ({ to }) => ({ to: to.join(', ') }),
    recipients: ({ to }) => to.length,
    async send({ to }, message, signal) {
      const { smtp } = dependencies
      if (smtp === undefined)
        return { ok: false, failure: storedFailure('delivery_mail_not_set_up'), retry: false }
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        host: smtp.host,
        port: smtp.port,
        secure: smtp.port === 465,
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
        ...(smtp.user === undefined
          ? {}
          : { auth: { user: smtp.user, pass: smtp.password ?? '' } }),
      })
      try {
        signal.throwIfAborted()
        // An open connection cannot be closed from here; if it still delivers, the receiver drops the retry by its id.
        await untilAborted(
          transport.sendMail({
            from: smtp.from,
            to,
            subject: subjectOf(message.text),
            text: message.text,
            messageId: `<${message.id}@nanoclaw>`,
          }),
          signal,
        )
        return { ok: true }
      } catch (error) {
        const status =
          error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
        return status >= 500
          ? { ok: false, failure: storedFailure('delivery_mail_refused', { status }), retry: false }
          : { ok: false, failure: storedFailure('delivery_mail_unreachable'), retry: true }
      } finally {
        transport.close()
      }
    },
  })

function mayReceive(address: string, smtp: SmtpSettings | undefined): boolean {
  const allowed = smtp?.allowed_recipients
  if (allowed === undefined) return true
  const wanted = address.toLowerCase()
  const domain = wanted.slice(wanted.lastIndexOf('@'))
  return allowed.some((one) => [wanted, domain].includes(one.toLowerCase()))
}

const subjectOf = (text: string): string => {
  const line = text.trim().split('\n')[0]?.trim() ?? ''
  return line.length > MAX_SUBJECT_CHARACTERS
    ? `${line.slice(0, MAX_SUBJECT_CHARACTERS - 1)}…`
    : line
}
