// A push message as RFC 8291 encrypts it for one browser, and the sender's signature after RFC 8292 (VAPID).
import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  generateKeyPair,
  hkdfSync,
  type JsonWebKey,
  randomBytes,
  sign,
} from 'node:crypto'
import { promisify } from 'node:util'

const CURVE = 'prime256v1'
const SALT_BYTES = 16
const KEY_BYTES = 16
const NONCE_BYTES = 12
/** Of the one record that a message is; push services accept 4,096 bytes at least. */
const RECORD_SIZE = 4_096
/** Marks the last record. */
const LAST = 2
/** At most 24 hours, says the RFC. */
const TOKEN_LIFETIME_SECONDS = 12 * 3_600

/** The keys of a subscription, base64url. */
export interface SubscriptionKeys {
  p256dh: string
  auth: string
}

/** Whether the key of a subscription is a point of the curve; others would make every message to it fail. */
export function isSubscriptionKey(p256dh: string): boolean {
  const ecdh = createECDH(CURVE)
  ecdh.generateKeys()
  try {
    ecdh.computeSecret(Buffer.from(p256dh, 'base64url'))
    return true
  } catch {
    return false
  }
}

/**
 * The body of a message with `Content-Encoding: aes128gcm`, which only that browser can decrypt.
 * @param chance the sender's key and the salt; for tests with known values.
 */
export function encryptPush(
  text: string,
  keys: SubscriptionKeys,
  chance: { privateKey?: Buffer; salt?: Buffer } = {},
): Buffer {
  const ecdh = createECDH(CURVE)
  if (chance.privateKey === undefined) ecdh.generateKeys()
  else ecdh.setPrivateKey(chance.privateKey)
  const sender = ecdh.getPublicKey()
  const receiver = Buffer.from(keys.p256dh, 'base64url')
  const derive = (secret: Buffer, salt: Buffer, info: Buffer, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, salt, info, length))
  const shared = derive(
    ecdh.computeSecret(receiver),
    Buffer.from(keys.auth, 'base64url'),
    Buffer.concat([Buffer.from('WebPush: info\0'), receiver, sender]),
    32,
  )
  const salt = chance.salt ?? randomBytes(SALT_BYTES)
  const key = derive(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), KEY_BYTES)
  const nonce = derive(shared, salt, Buffer.from('Content-Encoding: nonce\0'), NONCE_BYTES)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const header = Buffer.alloc(SALT_BYTES + 5)
  salt.copy(header)
  header.writeUInt32BE(RECORD_SIZE, SALT_BYTES)
  header.writeUInt8(sender.length, SALT_BYTES + 4)
  return Buffer.concat([
    header,
    sender,
    cipher.update(text, 'utf8'),
    cipher.update(Buffer.from([LAST])),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

/** The key pair that identifies this server to push services. */
export type VapidKey = JsonWebKey

export async function newVapidKey(): Promise<VapidKey> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
  return privateKey.export({ format: 'jwk' })
}

/** The public key as browsers take it: an uncompressed point, base64url. */
export const vapidPublicKey = ({ x = '', y = '' }: VapidKey): string =>
  Buffer.concat([
    Buffer.from([4]),
    Buffer.from(x, 'base64url'),
    Buffer.from(y, 'base64url'),
  ]).toString('base64url')

/** The `Authorization` header of a message. @param subject where the operator is reached: an https or mailto URL */
export function vapidAuthorization(
  key: VapidKey,
  { endpoint, subject, now }: { endpoint: string; subject: string; now: Date },
): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(now.getTime() / 1000) + TOKEN_LIFETIME_SECONDS,
    sub: subject,
  }
  const signed = `${part({ typ: 'JWT', alg: 'ES256' })}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(signed), {
    key: createPrivateKey({ key, format: 'jwk' }),
    dsaEncoding: 'ieee-p1363',
  }).toString('base64url')
  return `vapid t=${signed}.${signature}, k=${vapidPublicKey(key)}`
}
