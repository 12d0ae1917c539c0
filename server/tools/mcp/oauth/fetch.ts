// The requests of a sign-in. The server names most of their addresses itself, so they are guarded like those of tools.

import { isIP } from 'node:net'
import type { FetchLike } from '@modelcontextprotocol/client'
import { bareHost } from '../../../net/addresses.ts'
import type { GuardedFetch } from '../../../net/guarded-fetch.ts'

/** A fetch for the sign-in to the MCP server with this address. It rejects where an address is refused. */
export type OAuthFetch = (serverUrl: string) => FetchLike

const TIMEOUT_MS = 20_000
/** Metadata of an authorization server, a registration, tokens. */
const MAX_BYTES = 1_000_000

/**
 * Administrators may name any address for a server. What the server names then, such as its authorization server, must be a
 * public address or an allowed one, except at the server's own origin, and on the same machine where its address is an IP.
 */
export const createOAuthFetch =
  (guarded: GuardedFetch): OAuthFetch =>
  (serverUrl) =>
  async (url, init = {}) => {
    const target = new URL(url)
    const { method = 'GET', body, signal } = init
    const response = await guarded(target.href, {
      signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      trusted: isOwn(target, new URL(serverUrl)),
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(body === undefined || body === null ? {} : { body: String(body) }),
    })
    if (!response.ok) throw new Error(response.error)
    if (response.truncated) throw new Error('the response is too large')
    const hasBody = ![204, 205, 304].includes(response.status)
    const {
      'content-encoding': _decoded,
      'content-length': _changed,
      ...headers
    } = response.headers
    return new Response(hasBody ? Buffer.from(response.body) : null, {
      status: response.status,
      headers,
    })
  }

function isOwn(target: URL, server: URL): boolean {
  if (target.origin === server.origin) return true
  const host = bareHost(server.hostname)
  const isMachine = isIP(host) !== 0 || host === 'localhost'
  return isMachine && bareHost(target.hostname) === host
}
