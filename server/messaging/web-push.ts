// Push messages, encrypted for one browser (RFC 8291) and signed by this server (VAPID, RFC 8292), and the keys for both.
import { createECDH } from 'node:crypto'
import { z } from 'zod'

/** Loaded when a message is sent, because most servers never send one. */
const load = async () => (await import('web-push')).default

/** The keys of a subscription, base64url. */
export interface SubscriptionKeys {
  p256dh: string
  auth: string
}

/** Whether a subscription's key is a point on the curve. With any other key, every message to it would fail. */
export function isSubscriptionKey(p256dh: string): boolean {
  const ecdh = createECDH('prime256v1')
  ecdh.generateKeys()
  try {
    ecdh.computeSecret(Buffer.from(p256dh, 'base64url'))
    return true
  } catch {
    return false
  }
}

/** The key pair that identifies this server to push services, in base64url. Browsers subscribe with the public key. */
export const VapidKeys = z.object({ publicKey: z.string(), privateKey: z.string() })
/** The key pair with which this server signs push messages (VAPID). */
export type VapidKeys = z.infer<typeof VapidKeys>

/** Creates a key pair by which push services recognize this installation. */
export function newVapidKeys(): VapidKeys {
  const ecdh = createECDH('prime256v1')
  return {
    publicKey: ecdh.generateKeys('base64url'),
    // Node omits leading zeros, which the format requires.
    privateKey: Buffer.from(ecdh.getPrivateKey('hex').padStart(64, '0'), 'hex').toString(
      'base64url',
    ),
  }
}

/** A notification before it is encrypted (RFC 8291). */
export interface PushMessage {
  text: string
  endpoint: string
  keys: SubscriptionKeys
  vapid: VapidKeys
  /** How to contact the operator: an https or mailto URL. */
  subject: string
  /** How long the push service keeps the message for an unreachable device. */
  lifetimeSeconds: number
  urgency: 'normal' | 'high'
  /** A later message with the same topic, of at most 32 characters of base64url, replaces this one. */
  topic: string
}

/** Builds the request that delivers a message to a browser's push service. */
export async function pushRequest(
  message: PushMessage,
): Promise<{ headers: Record<string, string>; body: Buffer }> {
  const { endpoint, keys, vapid, subject, urgency, topic } = message
  const { headers, body } = (await load()).generateRequestDetails(
    { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } },
    message.text,
    {
      vapidDetails: { subject, ...vapid },
      contentEncoding: 'aes128gcm',
      TTL: message.lifetimeSeconds,
      urgency,
      topic,
    },
  )
  if (body === null) throw new Error('a push message without a body')
  return {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
    ),
    body,
  }
}
