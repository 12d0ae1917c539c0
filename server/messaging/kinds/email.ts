// Messages by email, over the SMTP server that the operator configured.
import { z } from 'zod'
import { appError } from '../../errors.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import { defineChannelKind } from '../channel-kind.ts'
import { createMailer, mayReceive, type SmtpSettings } from '../mailer.ts'

const MAX_SUBJECT_CHARACTERS = 100
const Addresses = z.union(
  [z.email().transform((one) => [one]), z.array(z.email()).min(1).max(10)],
  { error: 'one to ten email addresses' },
)

/** If `smtp` is not configured, this kind of channel cannot be created. */
export const createEmailKind = (dependencies: { smtp: SmtpSettings | undefined }) =>
  defineChannelKind({
    type: 'email',
    settings: z.object({ to: Addresses }),
    refuse({ to }) {
      if (dependencies.smtp === undefined) return appError('channel_mail_not_set_up')
      const address = to.find((one) => !mayReceive(one, dependencies.smtp))
      return address === undefined ? undefined : appError('channel_address_refused', { address })
    },
    present: ({ to }) => ({ to: to.join(', ') }),
    recipients: ({ to }) => to.length,
    mailAddresses: ({ to }) => to,
    async send({ to }, message, signal) {
      const { smtp } = dependencies
      if (smtp === undefined)
        return { ok: false, failure: storedFailure('delivery_mail_not_set_up'), retry: false }
      // The operator may have removed an address from the allowed ones since.
      if (!to.every((address) => mayReceive(address, smtp)))
        return { ok: false, failure: storedFailure('delivery_settings_unfit'), retry: false }
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
