// Signatures of webhooks as specified by https://www.standardwebhooks.com, so that receivers can verify them with a
// library.
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret, in the form in which receivers are configured with it. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/**
 * The headers of a delivery: id, time of the attempt in seconds, and for each secret `v1,` with the HMAC-SHA256 of
 * `id.time.body` in base64. A receiver accepts a request if one of the signatures is valid.
 */
export function webhookHeaders(
  { id, body }: { id: string; body: string },
  { secrets, now }: { secrets: readonly string[]; now: Date },
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
