// Messages by email: sent over the SMTP server that the operator configured, received from an IMAP mailbox of the user.
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { GuardedConnections } from '../../net/guarded-fetch.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import { defineChannelKind } from '../channel-kind.ts'
import {
  checkMailServer,
  createMailer,
  type Mail,
  mayReceive,
  type SmtpSettings,
} from '../mailer.ts'
import type { Destination, OutgoingPart, PartOutcome } from '../messenger.ts'
import { receivingHosts } from './email/arrival.ts'
import { checkMailbox, receiveMail } from './email/inbox.ts'

const MAX_SUBJECT_CHARACTERS = 100
const MAX_CHARACTERS = 200_000
const TEST_TIMEOUT_MS = 10_000
/** Of all channels of an account: the server's name stands on them. */
const CODE_MAILS_PER_HOUR = 20
const Addresses = z.union(
  [z.email().transform((one) => [one]), z.array(z.email()).min(1).max(10)],
  { error: 'one to ten email addresses' },
)
const Imap = z.strictObject({
  host: z.string().regex(/^[\w.:-]{1,253}$/, { error: 'a host name' }),
  port: z.int().min(1).max(65_535),
  user: z.string().min(1).max(300),
  password: z.string().min(1).max(1_000),
  folder: z.string().min(1).max(300).default('INBOX'),
  tls: z.enum(['implicit', 'starttls', 'none']).default('implicit'),
})
const Settings = z
  .object({
    to: Addresses.optional(),
    imap: Imap.optional(),
    address: z.email().optional(),
    /** As whom the host that receives the mail writes `Authentication-Results`. */
    authserv_id: z
      .string()
      .regex(/^[\w.-]{1,253}$/, { error: 'the name of a server' })
      .optional(),
  })
  .refine(({ to, imap }) => to !== undefined || imap !== undefined, {
    error: 'needed, or `imap` and `address`',
    path: ['to'],
  })
  .refine(({ imap, address }) => (imap === undefined) === (address === undefined), {
    error: '`imap` and `address` belong together',
    path: ['address'],
  })
  .refine(({ address }) => address?.includes('+') !== true, {
    error: 'an address without +, because the server adds its own part',
    path: ['address'],
  })

/** What stands for the place of a mailbox: a password is only for the one for which it was entered. */
const MAILBOX_PLACE = ['host', 'port', 'user', 'tls'] as const
const MailboxFields = z.record(z.string(), z.unknown())

/** A mailbox of which some fields are entered anew; the password does not go along to another one. */
function joinMailbox(stored: unknown, given: unknown): unknown {
  const before = MailboxFields.safeParse(stored).data
  const entered = MailboxFields.safeParse(given)
  // An address replaces the one before.
  if (before === undefined || !entered.success) return given
  const joined: Record<string, unknown> = { ...before, ...entered.data }
  const isSame = MAILBOX_PLACE.every((name) => joined[name] === before[name])
  if (!isSame && entered.data.password === undefined) delete joined.password
  return joined
}

/** If `smtp` is not configured, this kind of channel cannot be created. */
export const createEmailKind = (dependencies: {
  smtp: SmtpSettings | undefined
  fetch: GuardedConnections
  now(): Date
}) =>
  defineChannelKind({
    type: 'email',
    settings: Settings,
    refuse({ to = [] }) {
      if (dependencies.smtp === undefined) return appError('channel_mail_not_set_up')
      const address = to.find((one) => !mayReceive(one, dependencies.smtp))
      return address === undefined ? undefined : appError('channel_address_refused', { address })
    },
    present: ({ to, imap, address, authserv_id }) => ({
      ...(to === undefined ? {} : { to: to.join(', ') }),
      ...(imap === undefined || address === undefined
        ? {}
        : { address, imap: `${imap.user} (${imap.host})` }),
      ...(authserv_id === undefined ? {} : { authserv_id }),
    }),
    kept: ['imap', 'address'],
    joinKept: joinMailbox,
    recipients: ({ to }) => to?.length ?? 1,
    mailAddresses: ({ to }) => to ?? [],
    async test({ imap, address }, signal) {
      const { smtp } = dependencies
      if (smtp === undefined)
        return { ok: false, failure: storedFailure('delivery_mail_not_set_up') }
      const failure = await checkMailServer(smtp, TEST_TIMEOUT_MS)
      if (failure !== null) return { ok: false, failure }
      if (imap === undefined || address === undefined) return { ok: true, bot: null }
      await checkMailbox(imap, { connections: dependencies.fetch }, signal)
      return { ok: true, bot: address }
    },
    async send({ to }, message, signal) {
      const addresses = to ?? (message.to == null ? [] : [message.to.chatId])
      if (addresses.length === 0)
        return { ok: false, failure: storedFailure('delivery_no_chat'), retry: false }
      const { id, text } = message
      return await sendMail(
        dependencies,
        { id, to: addresses, subject: subjectOf(text), text },
        signal,
      )
    },
    messenger: {
      maxCharacters: MAX_CHARACTERS,
      hasButtons: false,
      codesPerHour: CODE_MAILS_PER_HOUR,
      // Several channels may read one mailbox: each has an address of its own.
      botOf: () => null,
      refuse: ({ imap }) => (imap === undefined ? appError('channel_mailbox_needed') : undefined),
      addressOf({ address }, token) {
        if (address === undefined) return null
        const at = address.lastIndexOf('@')
        return `${address.slice(0, at)}+${token}${address.slice(at)}`
      },
      async receive({ imap, address, authserv_id: configured }, inbox, signal) {
        if (imap === undefined || address === undefined) return
        const from = dependencies.smtp?.from ?? ''
        const own = [address, /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from]
        await receiveMail(
          imap,
          inbox,
          {
            connections: dependencies.fetch,
            own: own.map((one) => one.trim().toLowerCase()),
            isReceivingHost: receivingHosts({ configured, imapHost: imap.host, address }),
            now: dependencies.now,
          },
          signal,
        )
      },
      send: (_, to, part, signal) => sendPart(dependencies, to, part, signal),
    },
  })

async function sendPart(
  dependencies: { smtp: SmtpSettings | undefined },
  { chatId, threadId, name = '', inReplyTo, address }: Destination,
  part: OutgoingPart & { id: string },
  signal: AbortSignal,
): Promise<PartOutcome> {
  // What became of a request is in the answer; there is nothing to edit.
  if (part.type === 'end' || part.type === 'settled') return { ok: true }
  const text = part.type === 'file' ? part.name : part.text
  return await sendMail(
    dependencies,
    {
      // Tells to which thread an answer to it belongs.
      id: `${part.id}.${threadId}`,
      to: [chatId],
      subject: name === '' ? subjectOf(text) : `Re: ${name}`,
      text,
      replyTo: address ?? undefined,
      inReplyTo: inReplyTo?.startsWith('<') === true ? inReplyTo : undefined,
      attachments:
        part.type === 'file'
          ? [{ filename: part.name, contentType: part.mime, content: part.bytes }]
          : undefined,
    },
    signal,
  )
}

async function sendMail(
  { smtp }: { smtp: SmtpSettings | undefined },
  mail: Mail,
  signal: AbortSignal,
): Promise<PartOutcome> {
  if (smtp === undefined)
    return { ok: false, failure: storedFailure('delivery_mail_not_set_up'), retry: false }
  // The operator may have removed an address from the allowed ones since.
  if (!mail.to.every((address) => mayReceive(address, smtp)))
    return { ok: false, failure: storedFailure('delivery_settings_unfit'), retry: false }
  return await createMailer(smtp)(mail, signal)
}

const subjectOf = (text: string): string => {
  const line = text.trim().split('\n')[0]?.trim() ?? ''
  return line.length > MAX_SUBJECT_CHARACTERS
    ? `${line.slice(0, MAX_SUBJECT_CHARACTERS - 1)}…`
    : line
}
