// Sends one email over the SMTP server that the operator configured.
import { untilAborted } from '../lib/abort.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
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
}

/** Sends one email. */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<SendOutcome>

const TIMEOUT_MS = 20_000

/** Never throws. */
export const createMailer =
  (smtp: SmtpSettings): SendMail =>
  async ({ id, to, subject, text }, signal) => {
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
      ...(smtp.user === undefined ? {} : { auth: { user: smtp.user, pass: smtp.password ?? '' } }),
    })
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
  }

/** Whether `allowed_recipients` contains the address or its domain; without that list, everybody may receive email. */
export function mayReceive(address: string, smtp: SmtpSettings | undefined): boolean {
  const allowed = smtp?.allowed_recipients
  if (allowed === undefined) return true
  const wanted = address.toLowerCase()
  const domain = wanted.slice(wanted.lastIndexOf('@'))
  return allowed.some((one) => [wanted, domain].includes(one.toLowerCase()))
}
