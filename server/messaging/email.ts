// Messages by email, over the SMTP server that the operator configured.
import { z } from 'zod'
import { storedFailure } from '../protocol/failures/stored.ts'
import { defineChannelKind } from './channel-kind.ts'
import { createMailer, mayReceive, type SmtpSettings } from './mailer.ts'

const MAX_SUBJECT_CHARACTERS = 100
const Addresses = z.union([z.email().transform((one) => [one]), z.array(z.email()).min(1).max(10)])

/** If `smtp` is not configured, this kind of channel cannot be created. */
export const createEmailKind = (dependencies: { smtp: SmtpSettings | undefined }) =>
  defineChannelKind({
    type: 'email',
    settings: z
      .object({ to: Addresses })
      .refine(() => dependencies.smtp !== undefined, {
        error: 'this server cannot send email because `smtp` is not configured',
      })
      .refine(({ to }) => to.every((address) => mayReceive(address, dependencies.smtp)), {
        path: ['to'],
        error:
          'this server does not send email to this address; ask an administrator which addresses are allowed',
      }),
    present: ({ to }) => ({ to: to.join(', ') }),
    recipients: ({ to }) => to.length,
    mailAddresses: ({ to }) => to,
    async send({ to }, message, signal) {
      const { smtp } = dependencies
      if (smtp === undefined)
        return { ok: false, failure: storedFailure('delivery_mail_not_set_up'), retry: false }
      const { id, text } = message
      return await createMailer(smtp)({ id, to, subject: subjectOf(text), text }, signal)
    },
  })

const subjectOf = (text: string): string => {
  const line = text.trim().split('\n')[0]?.trim() ?? ''
  return line.length > MAX_SUBJECT_CHARACTERS
    ? `${line.slice(0, MAX_SUBJECT_CHARACTERS - 1)}…`
    : line
}
