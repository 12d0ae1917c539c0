// Links by email: to confirm an address, and to choose a new password when the old one is forgotten.

import type { Language } from '../../locales/languages.ts'
import type { Writer } from '../db/database.ts'
import type { ConfirmedAddressRepository } from '../db/repositories/accounts/confirmed-addresses.ts'
import type { UserRow } from '../db/repositories/accounts/users.ts'
import { appError, errorText } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { Limits, RateLimit } from '../lib/limits.ts'
import { filled, localeTexts } from '../lib/locale-texts.ts'
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
  requestConfirmation(userId: UserId, address: string, language: Language): Promise<void>
  /** Uses a confirmation link. @throws AppError `account_link_invalid`. */
  confirm(token: string): Promise<void>
  /**
   * Sends a link to the account with this address, in the background: neither the outcome nor the time reveals whether
   * there is one. @throws AppError `mail_not_set_up`, `mails_exhausted` for a client with too many requests.
   */
  forgotPassword(email: string, client: { address: string; language: Language }): Promise<void>
  /** Resolves when no email is being sent. */
  settled(): Promise<void>
}

/** What links in emails depend on. */
interface EmailLinksOptions {
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
}

/** The links that are being sent. */
interface EmailLinksState extends EmailLinksOptions {
  readonly perUser: RateLimit
  readonly confirmationsFromOne: RateLimit
  readonly confirmationsTo: RateLimit
  readonly resetsFromOne: RateLimit
  readonly resetsTo: RateLimit
  readonly perNetwork: RateLimit
  readonly sending: Set<Promise<void>>
}

/** Without `mail`, links cannot be requested, but links that were already sent still work. */
export function createEmailLinks(options: EmailLinksOptions): EmailLinks {
  const state: EmailLinksState = {
    ...options,
    perUser: hourly(options, 'confirmation mails', CONFIRMATIONS_PER_HOUR),
    confirmationsFromOne: hourly(
      options,
      'confirmation mails of a user to an address',
      MAILS_FROM_ONE,
    ),
    confirmationsTo: hourly(options, 'confirmation mails to an address', MAILS_PER_MAILBOX),
    resetsFromOne: hourly(options, 'reset mails from a network to an account', MAILS_FROM_ONE),
    resetsTo: hourly(options, 'reset mails to an account', MAILS_PER_MAILBOX),
    perNetwork: hourly(options, 'forgotten passwords', FORGOTTEN_PER_HOUR),
    sending: new Set<Promise<void>>(),
  }
  return {
    isAvailable: state.mail !== null,
    unconfirmed: state.addresses.unconfirmed,

    requestConfirmation: (userId, address, language) =>
      requestConfirmation(state, userId, address, language),

    async confirm(token) {
      const { userId, address } = await state.links.confirmation(token)
      await state.write(async (tx) => {
        await (await state.links.confirmation(token, tx)).use(tx)
        await state.addresses.add(tx, userId, address, state.now())
      })
    },

    forgotPassword: (email, client) => forgotPassword(state, email, client),

    async settled() {
      await Promise.all(state.sending)
    },
  }
}

const hourly = (state: Pick<EmailLinksOptions, 'limits'>, name: string, limit: number): RateLimit =>
  state.limits.rateLimit(name, { limit, windowMs: HOUR_MS })

function mailOrThrow(state: EmailLinksState): {
  publicUrl: string
  send(
    mail: { id: string; to: string[]; subject: string; text: string },
    signal: AbortSignal,
  ): Promise<{ ok: boolean }>
} {
  if (state.mail === null) throw appError('mail_not_set_up')
  return state.mail
}

async function sendText(
  state: EmailLinksState,
  to: string,
  { subject, text }: { subject: string; text: string },
  path: string,
): Promise<boolean> {
  const { publicUrl, send } = mailOrThrow(state)
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
async function sendReset(
  state: EmailLinksState,
  email: string,
  network: string,
  language: Language,
): Promise<void> {
  const account: UserRow | undefined = await state.addresses.findAccount(email)
  if (account?.isActive !== true || account.email === null) return
  if (account.passwordHash === null || !state.allowsPassword(account.username)) return
  const { id, username } = account
  if ((await state.resetsFromOne.acquire(`${id} ${network}`)) !== null) return
  if ((await state.resetsTo.acquire(id)) !== null) return
  const { noPassword, reset } = localeTexts(language, 'messages')
  const isSent =
    account.passwordHash === NO_PASSWORD
      ? await sendText(
          state,
          account.email,
          {
            subject: noPassword.subject,
            text: filled(noPassword.text, { name: username }),
          },
          '/',
        )
      : await sendText(
          state,
          account.email,
          { subject: reset.subject, text: filled(reset.text, { name: username }) },
          linkPath(await newReset(state, account, network)),
        )
  if (!isSent) state.log.warn({ user_id: id }, 'a password link could not be emailed')
}

/** Earlier links stay valid, because somebody else may have requested this one. */
async function newReset(
  state: EmailLinksState,
  account: UserRow,
  network: string,
): Promise<string> {
  const actor = { userId: null, username: null, address: network, details: { by: 'email' } }
  const options = { lifetimeMs: HOUR_MS, keepsEarlier: true }
  return (await state.links.createReset(account, actor, options)).token
}

async function requestConfirmation(
  state: EmailLinksState,
  userId: UserId,
  address: string,
  language: Language,
): Promise<void> {
  mailOrThrow(state)
  const wait =
    (await state.perUser.acquire(userId)) ??
    (await state.confirmationsFromOne.acquire(`${userId} ${address.toLowerCase()}`)) ??
    (await state.confirmationsTo.acquire(address.toLowerCase()))
  if (wait !== null) throw appError('mails_exhausted', {}, { retryAfter: wait })
  const { token } = await state.links.createConfirmation(userId, address)
  const { confirmation } = localeTexts(language, 'messages')
  if (!(await sendText(state, address, confirmation, linkPath(token))))
    throw appError('mail_not_sent')
}

async function forgotPassword(
  state: EmailLinksState,
  email: string,
  { address, language }: { address: string; language: Language },
): Promise<void> {
  mailOrThrow(state)
  const network = networkOf(address)
  const wait = await state.perNetwork.acquire(network)
  if (wait !== null) throw appError('mails_exhausted', {}, { retryAfter: wait })
  const work = sendReset(state, email, network, language)
    .catch((error: unknown) =>
      state.log.warn({ cause: errorText(error) }, 'a password link could not be emailed'),
    )
    .finally(() => state.sending.delete(work))
  state.sending.add(work)
}
