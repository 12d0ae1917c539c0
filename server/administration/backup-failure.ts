// Administrators are told by email that the scheduled backups began to fail.
import type { Store } from '../db/store.ts'
import { newId } from '../lib/ids.ts'
import { createMailer, mayReceive, type SmtpSettings } from '../messaging/mailer.ts'
import type { UserId } from '../protocol/ids.ts'

const MAIL_TIMEOUT_MS = 20_000
/** Administrators who are told. */
const TOLD = 100

interface ToldAdministrators {
  store: Pick<Store, 'users'>
  /** Undefined without a mail server: nobody is told. */
  smtp: SmtpSettings | undefined
  publicUrl: string | undefined
  /** Returns the addresses that a user has not confirmed. */
  unconfirmed(userId: UserId, addresses: readonly string[]): Promise<string[]>
  log: { warn(details: object, message: string): void }
}

/** One email to each administrator with a confirmed address, if there is a mail server. */
export async function tellBackupFailure(
  { place, reason }: { place: string; reason: string },
  { store, smtp, publicUrl, unconfirmed, log }: ToldAdministrators,
): Promise<void> {
  if (smtp === undefined) return
  try {
    const { items } = await store.users.list({ limit: TOLD, role: 'admin', isActive: true })
    const send = createMailer(smtp)
    for (const { id, email } of items) {
      if (email === null || !mayReceive(email, smtp)) continue
      if ((await unconfirmed(id, [email])).length > 0) continue
      const sent = await send(
        {
          id: newId(),
          to: [email],
          subject: 'NanoClaw: the scheduled backup failed',
          text: `${[
            `The scheduled backup to ${place} failed: ${reason.replace(/\.$/, '')}.`,
            'The server tries again by itself, and sends no further email until a backup has succeeded.',
            'Administration → Server → Health, and `nanoclaw doctor`, say how backups are now.',
            ...(publicUrl === undefined ? [] : [publicUrl]),
          ].join('\n\n')}\n`,
        },
        AbortSignal.timeout(MAIL_TIMEOUT_MS),
      )
      if (!sent.ok) log.warn({ reason: sent.failure.reason }, 'an administrator was not told')
    }
  } catch (error) {
    log.warn({ err: error }, 'the administrators could not be told that the backup failed')
  }
}
