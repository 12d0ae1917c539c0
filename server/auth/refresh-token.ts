// Refresh tokens: a session's id and a generation, signed. Only the valid generation is stored.
import { createSigner } from './signed-text.ts'

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
  const signer = createSigner('nanoclaw refresh token', secrets)
  return {
    create(sessionId, generation) {
      const text = `${sessionId}.${generation}`
      return `${text}.${signer.sign(text)}`
    },
    read(token) {
      const [, sessionId = '', generation = '', signature = ''] = FORMAT.exec(token) ?? []
      return signer.isSigned(`${sessionId}.${generation}`, signature)
        ? { sessionId, generation: Number(generation) }
        : null
    },
  }
}
