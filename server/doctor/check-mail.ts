// Checks that the mail server can be reached and accepts the configured user.
import { checkMailServer, type SmtpSettings } from '../messaging/mailer.ts'
import { type Finding, failedBy, fine } from './finding.ts'

const TIMEOUT_MS = 8000

/** Returns no findings when none is configured. Sends nothing. */
export async function checkMail(smtp: SmtpSettings | null): Promise<Finding[]> {
  if (smtp === null) return []
  const subject = 'mail server'
  const host = `${smtp.host}:${smtp.port}`
  const failure = await checkMailServer(smtp, TIMEOUT_MS)
  if (failure === null) return [fine('mail_ok', subject, `${host} responds`, { host })]
  const isCertificate = failure.reason.startsWith('delivery_mail_certificate')
  return [
    {
      state: 'fail',
      code: isCertificate ? 'mail_certificate' : 'mail_broken',
      params: { host, ...failedBy(failure) },
      subject,
      detail: `${host}: ${failure.message}`,
      advice: isCertificate
        ? 'Give the mail server a certificate that this machine trusts, or set NODE_EXTRA_CA_CERTS to a file with the certificate, and start again.'
        : 'Check smtp.host, port, user and password. Until then, no email is sent.',
    },
  ]
}
