// Makes the requests of a sign-in. The MCP server chooses most of their addresses, so they are guarded like those of tools.

import { isIP } from 'node:net'
import type { FetchLike } from '@modelcontextprotocol/client'
import { bareHost } from '../../../net/addresses.ts'
import type { GuardedFetch } from '../../../net/guarded-fetch.ts'

/** Creates the fetch for signing in to the MCP server with this address. It rejects if an address is refused. */
export type OAuthFetch = (serverUrl: string) => FetchLike

const TIMEOUT_MS = 20_000
/** Enough for the metadata of an authorization server, a registration, or tokens. */
const MAX_BYTES = 1_000_000

/**
 * Administrators may configure any address for a server. Addresses that the server names, such as its authorization server,
 * must be public or allowed. The only exceptions are the server's own origin, and addresses on the same machine if the
 * server's own address is an IP address.
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
