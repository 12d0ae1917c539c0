// Signatures of texts that the server hands out and reads again, with a key of their own for each purpose.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Signs texts with HMAC-SHA-256; a signature is 43 characters of base64url. */
export interface Signer {
  sign(text: string): string
  isSigned(text: string, signature: string): boolean
}

/**
 * @param purpose separates the signatures of this signer from all others made with the same secrets.
 * @param secrets the first one signs; the others are still accepted.
 */
export function createSigner(purpose: string, secrets: () => readonly string[]): Signer {
  const sign = (secret: string, text: string): string =>
    createHmac('sha256', Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)))
      .update(text)
      .digest('base64url')
  return {
    sign: (text) => sign(secrets()[0] ?? '', text),
    isSigned(text, signature) {
      const given = Buffer.from(signature)
      return secrets().some((secret) => {
        const expected = Buffer.from(sign(secret, text))
        return expected.length === given.length && timingSafeEqual(expected, given)
      })
    },
  }
}
