// How requests to other programs are signed, as standardwebhooks.com says.
import { createHmac } from 'node:crypto'

/** With what every secret begins. */
export const SECRET_PREFIX = 'whsec_'

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
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
