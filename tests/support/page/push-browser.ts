// The browser's side of push notifications: keys to subscribe with, and decryption of received messages.
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { expect } from 'vitest'

export const base64url = (bytes: Buffer): string => bytes.toString('base64url')

/** A browser that has subscribed: its keys, and how it reads what it receives (RFC 8291, section 3.4). */
export function newBrowser(endpoint: string) {
  const ecdh = createECDH('prime256v1')
  const own = ecdh.generateKeys()
  const auth = randomBytes(16)
  return {
    subscription: { endpoint, keys: { p256dh: base64url(own), auth: base64url(auth) } },
    read(body: Buffer): string {
      const salt = body.subarray(0, 16)
      const sender = body.subarray(21, 21 + body.readUInt8(20))
      const record = body.subarray(21 + sender.length)
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), own, sender])
      const shared = hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32)
      const derive = (what: string, length: number) =>
        Buffer.from(
          hkdfSync('sha256', Buffer.from(shared), salt, `Content-Encoding: ${what}\0`, length),
        )
      const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
      decipher.setAuthTag(record.subarray(-16))
      const plain = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
      expect(plain.at(-1)).toBe(2)
      return plain.subarray(0, -1).toString('utf8')
    },
  }
}
