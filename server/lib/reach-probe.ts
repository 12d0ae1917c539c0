// How the doctor recognizes its own server behind a public address, and learns what of a request arrives there. Both know the
// id of the installation, and nobody else does: others learn nothing from the answer, and cannot give it.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/** The header of a probe. */
export const PROBE_HEADER = 'x-nanoclaw-probe'
/** The header of the answer. */
export const SEEN_HEADER = 'x-nanoclaw-seen'

/** A request as it arrives at the server. */
const SeenRequest = z.object({
  /** The address that counts as the client's. */
  address: z.string(),
  /** Who has connected to the server. */
  peer: z.string(),
  /** The `Host` header. */
  host: z.string(),
  /** Whether somebody says whose request it is (`X-Forwarded-For`). */
  isForwarded: z.boolean(),
})
export type SeenRequest = z.infer<typeof SeenRequest>

const NONCE = /^[\w-]{20,40}$/
const sign = (id: string, text: string): string =>
  createHmac('sha256', id).update(text).digest('base64url')

const isSigned = (id: string, text: string, signature: string): boolean => {
  const expected = Buffer.from(sign(id, text))
  const given = Buffer.from(signature)
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/** A probe for the server of an installation; `header` is the value of `PROBE_HEADER`. */
export function createProbe(id: string): {
  header: string
  /** What the server has seen; null if the answer is not from this installation. */
  read(answer: string | null): SeenRequest | null
} {
  const nonce = randomBytes(20).toString('base64url')
  return {
    header: `${nonce}.${sign(id, `probe ${nonce}`)}`,
    read(answer) {
      const [body = '', signature = ''] = (answer ?? '').split('.')
      if (!isSigned(id, `seen ${nonce} ${body}`, signature)) return null
      return SeenRequest.parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')))
    },
  }
}

/** The value of `SEEN_HEADER` for a probe; null for one of somebody else. */
export function answerProbe(id: string, header: unknown, seen: SeenRequest): string | null {
  const [nonce = '', signature = ''] = typeof header === 'string' ? header.split('.') : []
  if (!NONCE.test(nonce) || !isSigned(id, `probe ${nonce}`, signature)) return null
  const body = Buffer.from(JSON.stringify(seen)).toString('base64url')
  return `${body}.${sign(id, `seen ${nonce} ${body}`)}`
}
