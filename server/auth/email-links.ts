// Links by email: to confirm an address, and to choose a new password when the old one is forgotten.
import type { Writer } from '../db/database.ts'
import type { ConfirmedAddressRepository } from '../db/repositories/accounts/confirmed-addresses.ts'
import type { UserRow } from '../db/repositories/accounts/users.ts'
import { appError, errorText } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { Limits } from '../lib/limits.ts'
import type { UserId } from '../protocol/ids.ts'
import type { AccountLinks } from './account-links.ts'
import { linkPath } from './link-token.ts'
import { networkOf } from './network.ts'
import { NO_PASSWORD } from './reset-rule.ts'

const HOUR_MS = 3_600_000
const CONFIRMATIONS_PER_HOUR = 10
/**
 * Emails to one mailbox that one network or user can cause. A separate limit, so that nobody can use up the requests of
 * others.
 */
const MAILS_FROM_ONE = 3
/**
 * Emails to one mailbox in total, so that it is not flooded. Links in earlier emails stay valid, so no further request is
 * needed.
 */
const MAILS_PER_MAILBOX = 12
const FORGOTTEN_PER_HOUR = 20
const SEND_TIMEOUT_MS = 15_000

/** The languages of emails. */
export type MailLanguage = 'en' | 'zh-CN'

/** Sends links for new passwords and for confirming addresses by email. */
export interface EmailLinks {
  /** Whether this server can send email with links. */
  readonly isAvailable: boolean
  /** The given addresses that the user has not confirmed. */
  unconfirmed(userId: UserId, addresses: readonly string[]): Promise<string[]>
  /**
   * Sends a link that confirms the address for this user. @throws AppError `mail_not_set_up`, `mails_exhausted`,
   * `mail_not_sent`.
   */
  requestConfirmation(userId: UserId, address: string, language: MailLanguage): Promise<void>
  /** Uses a confirmation link. @throws AppError `account_link_invalid`. */
  confirm(token: string): Promise<void>
  /**
   * Sends a link to the account with this address, in the background: neither the outcome nor the time reveals whether
   * there is one. @throws AppError `mail_not_set_up`, `mails_exhausted` for a client with too many requests.
   */
  forgotPassword(email: string, client: { address: string; language: MailLanguage }): Promise<void>
  /** Resolves when no email is being sent. */
  settled(): Promise<void>
}

/** Without `mail`, links cannot be requested, but links that were already sent still work. */
export function createEmailLinks({
  links,
  addresses,
  write,
  mail,
  allowsPassword,
  limits,
  log,
  now,
}: {
  links: AccountLinks
  addresses: ConfirmedAddressRepository
  write(work: (tx: Writer) => Promise<void>): Promise<void>
  /** Null if no SMTP server or no public URL is configured. A link must not depend on what a client sent. */
  mail: {
    publicUrl: string
    send(
      mail: { id: string; to: string[]; subject: string; text: string },
      signal: AbortSignal,
    ): Promise<{ ok: boolean }>
  } | null
  /** Whether this account signs in with a password. */
  allowsPassword(username: string): boolean
  limits: Pick<Limits, 'rateLimit'>
  log: { warn(details: object, message: string): void }
  now(): Date
}): EmailLinks {
  const hourly = (name: string, limit: number) =>
    limits.rateLimit(name, { limit, windowMs: HOUR_MS })
  const perUser = hourly('confirmation mails', CONFIRMATIONS_PER_HOUR)
  const confirmationsFromOne = hourly('confirmation mails of a user to an address', MAILS_FROM_ONE)
  const confirmationsTo = hourly('confirmation mails to an address', MAILS_PER_MAILBOX)
  const resetsFromOne = hourly('reset mails from a network to an account', MAILS_FROM_ONE)
  const resetsTo = hourly('reset mails to an account', MAILS_PER_MAILBOX)
  const perNetwork = hourly('forgotten passwords', FORGOTTEN_PER_HOUR)
  const sending = new Set<Promise<void>>()

  const mailOrThrow = () => {
    if (mail === null) throw appError('mail_not_set_up')
    return mail
  }

  async function sendText(
    to: string,
    { subject, text }: { subject: string; text: string },
    path: string,
  ): Promise<boolean> {
    const { publicUrl, send } = mailOrThrow()
    const url = `${publicUrl.replace(/\/+$/, '')}${path}`
    const sent = await send(
      { id: newId(), to: [to], subject, text: `${text}\n\n${url}\n` },
      AbortSignal.timeout(SEND_TIMEOUT_MS),
    )
    return sent.ok
  }

  /**
   * Counts emails sent to an account, not requests for an address: when an account receives no more emails within an hour,
   * all of its earlier links still work.
   */
  async function sendReset(email: string, network: string, language: MailLanguage): Promise<void> {
    const account: UserRow | undefined = await addresses.findAccount(email)
    if (account?.isActive !== true || account.email === null) return
    if (account.passwordHash === null || !allowsPassword(account.username)) return
    const { id, username } = account
    if ((await resetsFromOne.take(`${id} ${network}`)) !== null) return
    if ((await resetsTo.take(id)) !== null) return
    const texts = TEXTS[language]
    const isSent =
      account.passwordHash === NO_PASSWORD
        ? await sendText(account.email, texts.noPassword(username), '/')
        : await sendText(
            account.email,
            texts.reset(username),
            linkPath(await newReset(account, network)),
          )
    if (!isSent) log.warn({ user_id: id }, 'a password link could not be emailed')
  }

  /** Earlier links stay valid, because somebody else may have requested this one. */
  const newReset = async (account: UserRow, network: string): Promise<string> => {
    const actor = { userId: null, username: null, address: network, details: { by: 'email' } }
    const options = { lifetimeMs: HOUR_MS, keepsEarlier: true }
    return (await links.createReset(account, actor, options)).token
  }

  return {
    isAvailable: mail !== null,
    unconfirmed: addresses.unconfirmed,

    async requestConfirmation(userId, address, language) {
      mailOrThrow()
      const wait =
        (await perUser.take(userId)) ??
        (await confirmationsFromOne.take(`${userId} ${address.toLowerCase()}`)) ??
        (await confirmationsTo.take(address.toLowerCase()))
      if (wait !== null) throw appError('mails_exhausted', {}, { retryAfter: wait })
      const { token } = await links.createConfirmation(userId, address)
      if (!(await sendText(address, TEXTS[language].confirmation, linkPath(token))))
        throw appError('mail_not_sent')
    },

    async confirm(token) {
      const { userId, address } = await links.confirmation(token)
      await write(async (tx) => {
        await (await links.confirmation(token, tx)).use(tx)
        await addresses.add(tx, userId, address, now())
      })
    },

    async forgotPassword(email, { address, language }) {
      mailOrThrow()
      const network = networkOf(address)
      const wait = await perNetwork.take(network)
      if (wait !== null) throw appError('mails_exhausted', {}, { retryAfter: wait })
      const work = sendReset(email, network, language)
        .catch((error: unknown) =>
          log.warn({ cause: errorText(error) }, 'a password link could not be emailed'),
        )
        .finally(() => sending.delete(work))
      sending.add(work)
    },

    async settled() {
      await Promise.all(sending)
    },
  }
}

const TEXTS = {
  en: {
    confirmation: {
      subject: 'Confirm your email address',
      text: 'Someone asked NanoClaw to send email to this address. If it was you, open this link within 24 hours. Otherwise, ignore this email.',
    },
    reset: (name: string) => ({
      subject: 'Choose a new password',
      text: `Someone asked to reset the password of the account “${name}”. If it was you, open this link within an hour. Otherwise, ignore this email. Nothing changes.`,
    }),
    noPassword: (name: string) => ({
      subject: 'You sign in without a password',
      text: `Someone asked to reset the password of the account “${name}”. This account has no password. Sign in with single sign-on. If it wasn’t you, ignore this email. Nothing changes.`,
    }),
  },
  'zh-CN': {
    confirmation: {
      subject: '确认你的邮箱地址',
      text: '有人希望 NanoClaw 向此地址发送邮件。如果是你本人操作，请在 24 小时内打开以下链接；否则请忽略本邮件。',
    },
    reset: (name: string) => ({
      subject: '设置新密码',
      text: `有人为账号“${name}”申请设置新密码。如果是你本人操作，请在一小时内打开以下链接；否则请忽略本邮件，账号不会有任何变化。`,
    }),
    noPassword: (name: string) => ({
      subject: '你的账号不使用密码',
      text: `有人为账号“${name}”申请设置新密码。该账号没有密码，请使用单点登录。如果不是你本人操作，请忽略本邮件，账号不会有任何变化。`,
    }),
  },
} as const
