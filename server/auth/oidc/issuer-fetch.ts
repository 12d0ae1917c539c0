// Requests to the issuer over the guarded connection: bounded in size and time, and without redirects.
import type { GuardedConnections } from '../../net/guarded-fetch.ts'
import { type IssuerFetch, IssuerUnreachable } from './issuer.ts'

const TIMEOUT_MS = 10_000
/** Maximum size of an issuer's response: metadata, keys, tokens with many groups. */
const MAX_BYTES = 1_000_000

/** The operator chose the issuer, so it may be on a private network. */
export const createIssuerFetch =
  (guarded: GuardedConnections): IssuerFetch =>
  async (url, { method, body, headers }) => {
    const response = await guarded(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      maxRedirects: 0,
      trusted: true,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === null ? {} : { body }),
    })
    if (!response.ok) throw new IssuerUnreachable(response.error)
    if (response.status >= 500) throw new IssuerUnreachable(`It responded with ${response.status}.`)
    if (response.truncated) throw new IssuerUnreachable('The response is too large.')
    const hasBody = ![204, 205, 304].includes(response.status)
    return new Response(hasBody ? Buffer.from(response.body) : null, {
      status: response.status,
      headers: response.headers,
    })
  }
