// The only access to the server's REST API: success envelope, authorization header, errors with a readable text.

import type { z } from 'zod'
import type { SignedIn } from '../../../../server/protocol/accounts/user.ts'
import type { ErrorBody, ErrorParams } from '../../../../server/protocol/error.ts'
import { fromHost } from '../base-path.ts'
import { reportConnection } from '../offline/connection.ts'
import { opensOffline, readCopy, storeCopy } from '../offline/offline.ts'
import { isBack, isRestarting, RESTART_LIMIT_MS } from './restart.ts'
import { knownAccount, useSession } from './session.ts'

/** A request that the server refused or that did not reach it. `message` is the server's text for people, or empty. */
export class ApiError extends Error {
  /** The HTTP status; 0 when the server could not be reached. */
  readonly status: number
  /** The protocol's name of the exact reason. */
  readonly reason: string | undefined
  readonly params: ErrorParams | undefined
  readonly details: unknown
  constructor(
    status: number,
    message: string,
    more: Partial<Pick<ErrorBody, 'reason' | 'params' | 'details'>> = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.reason = more.reason
    this.params = more.params
    this.details = more.details
  }
}

/** Whether somebody else has changed what the request was based on. */
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409

/** Options of `request` and `send`. Query parameters that are null, undefined or empty are left out. */
export type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON; `FormData` is sent unchanged. */
  body?: unknown
  query?: Record<string, string | number | boolean | null | undefined>
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/** The pending renewal: one at a time per tab. The server allows other tabs to renew at the same time. */
let renewal: Promise<void> | null = null

/**
 * Renews the session with its cookie. Signs out if there is no session or it has ended.
 * Throws `ApiError` if the server is unreachable or fails.
 */
export function renewSession(): Promise<void> {
  renewal ??= renew().finally(() => {
    renewal = null
  })
  return renewal
}

async function renew(): Promise<void> {
  const { signIn, signOut } = useSession.getState()
  let response: Response
  try {
    response = await fetchOrOffline('/api/auth/refresh', { method: 'POST' })
  } catch (error) {
    // Without a connection, the user can read the stored copies. Every request tries the cookie again.
    const account = knownAccount()
    if (account === null || !opensOffline()) throw error
    if (useSession.getState().state === 'unknown')
      return useSession.setState({ state: 'in', userId: account, renewAt: 0 })
    throw error
  }
  if (response.ok) {
    const body: { data: z.output<typeof SignedIn> } = await response.json()
    signIn(body.data)
  } else if (response.status === 401) signOut('session_ended')
  else throw refusalOf(response.status, await response.json().catch(() => null))
}

/** The authorization header, with a token that is renewed if it expires soon. Empty without a session. */
export async function authorization(): Promise<Record<string, string>> {
  const { state, renewAt } = useSession.getState()
  if (state === 'in' && Date.now() >= renewAt) await renewSession()
  const { token } = useSession.getState()
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** Sends a request, and again while the server refuses it because it is restarting. */
async function fetchOrOffline(path: string, init: RequestInit): Promise<Response> {
  const until = performance.now() + RESTART_LIMIT_MS
  for (;;) {
    const response = await fetchOnce(path, init)
    if (!(await isRestarting(response)) || !(await isBack(until, init.signal))) return response
  }
}

async function fetchOnce(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(fromHost(path), init)
    reportConnection(true)
    return response
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    reportConnection(false)
    throw new ApiError(0, 'offline')
  }
}

/** The path with its parameters; those that are null, undefined or empty are left out. */
export const addressOf = (path: string, query: RequestOptions['query']): string => {
  if (query === undefined) return path
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The error for a refused request. Without a readable body, for example from a proxy, it has only the status. */
export const refusalOf = (status: number, body: Partial<ErrorBody> | null): ApiError =>
  typeof body?.message === 'string'
    ? new ApiError(status, body.message, body)
    : new ApiError(status, '')

/** Sends a request and returns the raw response. Throws `ApiError`; an abort throws the signal's reason. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, query, headers, signal } = options
  const isForm = body instanceof FormData
  const attempt = async (): Promise<Response> =>
    fetchOrOffline(addressOf(path, query), {
      method,
      headers: {
        ...(await authorization()),
        // Texts that the server writes follow the language of the page, which may be another one than the browser's.
        'accept-language': document.documentElement.lang,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  let response = await attempt()
  if (response.status === 401 && useSession.getState().token !== null) {
    const refusal = refusalOf(response.status, await response.json().catch(() => null))
    if (refusal.reason === 'account_disabled') {
      useSession.getState().signOut(refusal.reason)
      throw refusal
    }
    // The token may be outdated, for example after a new password in another tab. A 401 has no effect, so repeating is safe.
    await renewSession()
    if (useSession.getState().token === null) throw refusal
    response = await attempt()
  }
  if (!response.ok) throw refusalOf(response.status, await response.json().catch(() => null))
  return response
}

/**
 * Sends a request and returns `data` of the success envelope. The type comes from the protocol: the server checks
 * every response against the same schema before sending it, so the page needs no validator. Without a connection, a GET
 * returns the copy of an earlier response if there is one. Throws `ApiError`.
 */
export async function request<T>(path: string, options?: RequestOptions): Promise<T> {
  const address = addressOf(path, options?.query)
  const isRead = (options?.method ?? 'GET') === 'GET'
  try {
    const response = await send(path, options)
    const body: { data: T } = await response.json()
    if (isRead) storeCopy(address, body.data)
    return body.data
  } catch (error) {
    if (!isRead || !(error instanceof ApiError) || error.status !== 0) throw error
    const copy = await readCopy(address)
    if (copy === null) throw error
    // The copy is a response to the same request, so it has the same type.
    return copy.data as T
  }
}

/** Sends a request whose response data is not needed. Throws `ApiError`. */
export async function requestDone(path: string, options?: RequestOptions): Promise<void> {
  await send(path, options)
}
