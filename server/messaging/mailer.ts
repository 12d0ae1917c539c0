// Sends one email over the SMTP server that the operator configured.
import { z } from 'zod'
import { untilAborted } from '../lib/abort.ts'
import { certificateFault } from '../lib/certificate-faults.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { SendOutcome } from './channel-kind.ts'

/** The SMTP server. */
export interface SmtpSettings {
  host: string
  port: number
  user?: string | undefined
  password?: string | undefined
  from: string
  /** Allowed recipients: addresses (`ann@example.org`) and domains (`@example.org`). Default: everyone. */
  allowed_recipients?: readonly string[] | undefined
}

/** One email in plain text. */
export interface Mail {
  /** Becomes the message id, so that a receiver can drop an email that arrives twice. */
  id: string
  to: readonly string[]
  subject: string
  text: string
  /** Where answers go; by default to the sender. */
  replyTo?: string | undefined
  /** The message that is answered. */
  inReplyTo?: string | undefined
  attachments?: readonly { filename: string; contentType: string; content: Buffer }[] | undefined
}

/** Sends one email. */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<SendOutcome>

const TIMEOUT_MS = 20_000

async function connectTo(smtp: SmtpSettings, timeoutMs = TIMEOUT_MS) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.port === 465,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(smtp.user === undefined ? {} : { auth: { user: smtp.user, pass: smtp.password ?? '' } }),
  })
}

/** Never throws. */
export const createMailer =
  (smtp: SmtpSettings): SendMail =>
  async ({ id, to, subject, text, replyTo, inReplyTo, attachments = [] }, signal) => {
    const transport = await connectTo(smtp)
    try {
      signal.throwIfAborted()
      // The open connection cannot be closed from here. If it still delivers, the receiver drops the retry by its id.
      await untilAborted(
        transport.sendMail({
          from: smtp.from,
          to: [...to],
          subject,
          text,
          messageId: `<${id}@nanoclaw>`,
          ...(replyTo === undefined ? {} : { replyTo }),
          ...(inReplyTo === undefined
            ? {}
            : {
                inReplyTo,
                references: [inReplyTo],
                // So that no other program answers it.
                headers: { 'Auto-Submitted': 'auto-replied' },
              }),
          ...(attachments.length === 0 ? {} : { attachments: [...attachments] }),
        }),
        signal,
      )
      return { ok: true }
    } catch (error) {
      const failure = mailFailure(error)
      return { ok: false, failure, retry: failure.reason !== 'delivery_mail_refused' }
    } finally {
      transport.close()
    }
  }

/** Connects and signs in to the mail server without sending anything. Returns why it does not work; null if it does. */
export async function checkMailServer(
  smtp: SmtpSettings,
  timeoutMs: number,
): Promise<DescribedFailure | null> {
  const transport = await connectTo(smtp, timeoutMs)
  try {
    await transport.verify()
    return null
  } catch (error) {
    return mailFailure(error)
  } finally {
    transport.close()
  }
}

const MailError = z.object({ code: z.string().optional(), responseCode: z.number().optional() })

const CERTIFICATE_FAILURES = {
  self_signed: 'delivery_mail_certificate_self_signed',
  expired: 'delivery_mail_certificate_expired',
  other_host: 'delivery_mail_certificate_other_host',
  untrusted: 'delivery_mail_certificate_untrusted',
} as const

/** Why a mail server could not be used, as far as its library says it. */
export function mailFailure(error: unknown): DescribedFailure {
  const { code = '', responseCode = 0 } = MailError.safeParse(error).data ?? {}
  if (code === 'EAUTH') return storedFailure('delivery_mail_login_refused')
  if (responseCode >= 500) return storedFailure('delivery_mail_refused', { status: responseCode })
  const certificate = certificateFault(error)
  if (certificate !== null) return storedFailure(CERTIFICATE_FAILURES[certificate])
  const text = error instanceof Error ? `${code} ${error.message}` : code
  if (/ENOTFOUND|EAI_AGAIN|EDNS/.test(text)) return storedFailure('delivery_mail_host_unknown')
  if (/ECONNREFUSED/.test(text)) return storedFailure('delivery_mail_refused_connection')
  return storedFailure('delivery_mail_unreachable')
}

/** Whether `allowed_recipients` contains the address or its domain; without that list, everybody may receive email. */
export function mayReceive(address: string, smtp: SmtpSettings | undefined): boolean {
  const allowed = smtp?.allowed_recipients
  if (allowed === undefined) return true
  const wanted = address.toLowerCase()
  const domain = wanted.slice(wanted.lastIndexOf('@'))
  return allowed.some((one) => [wanted, domain].includes(one.toLowerCase()))
}
