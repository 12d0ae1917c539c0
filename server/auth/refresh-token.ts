// Refresh tokens: a session's id and a generation, signed. Only the valid generation is stored.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** `<session>.<generation>.<signature>` */
const FORMAT = /^([\w-]{1,64})\.(\d{1,9})\.([\w-]{43})$/

/** The refresh tokens of pages. Each works once. */
export interface RefreshTokens {
  create(sessionId: string, generation: number): string
  /** Null for a token that this server did not create. */
  read(token: string): { sessionId: string; generation: number } | null
}

/** @param secrets the first one signs; the others are still accepted. */
export function createRefreshTokens(secrets: () => readonly string[]): RefreshTokens {
  const sign = (secret: string, text: string): string =>
    createHmac('sha256', Buffer.from(hkdfSync('sha256', secret, '', 'nanoclaw refresh token', 32)))
      .update(text)
      .digest('base64url')
  return {
    create(sessionId, generation) {
      const text = `${sessionId}.${generation}`
      return `${text}.${sign(secrets()[0] ?? '', text)}`
    },
    read(token) {
      const [, sessionId = '', generation = '', signature = ''] = FORMAT.exec(token) ?? []
      const given = Buffer.from(signature)
      const isOurs = secrets().some((secret) => {
        const expected = Buffer.from(sign(secret, `${sessionId}.${generation}`))
        return expected.length === given.length && timingSafeEqual(expected, given)
      })
      return isOurs ? { sessionId, generation: Number(generation) } : null
    },
  }
}
