// The only access to the server's REST API: success envelope, sign-in header, errors with a readable text.
import type { ErrorBody, ErrorParams } from '../../../server/protocol/error.ts'
import { useSession } from './session.ts'

/** A request that the server refused or that did not reach it. `message` is for people. */
export class ApiError extends Error {
  /** The HTTP status; 0 when the server could not be reached. */
  readonly status: number
  /** The exact reason, by its name in the protocol. */
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

export type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON; form data is sent as it is. */
  body?: unknown
  query?: Record<string, string | number | boolean | null | undefined>
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

export const authorization = (): Record<string, string> => {
  const { token } = useSession.getState()
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

const withQuery = (path: string, query: RequestOptions['query']): string => {
  if (query === undefined) return path
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Reads the body of a refusal, which may also come from a proxy in between. */
export const refusalOf = (status: number, body: Partial<ErrorBody> | null): ApiError =>
  typeof body?.message === 'string'
    ? new ApiError(status, body.message, body)
    : new ApiError(status, `HTTP ${status}`)

/** The error for a refusal; a 401 also drops the token, which shows the sign-in page. */
export async function errorOf(response: Response): Promise<ApiError> {
  if (response.status === 401 && useSession.getState().token !== null)
    useSession.getState().signOut()
  return refusalOf(response.status, await response.json().catch(() => null))
}

/** Sends a request and returns the raw response. Throws `ApiError`; an abort is rethrown as it is. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, query, headers, signal } = options
  const isForm = body instanceof FormData
  let response: Response
  try {
    response = await fetch(withQuery(path, query), {
      method,
      headers: {
        ...authorization(),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new ApiError(0, 'offline')
  }
  if (!response.ok) throw await errorOf(response)
  return response
}

/**
 * Sends a request and returns `data` of the success envelope. Its type comes from the protocol: the server checks
 * every response against the same schema before it sends it, so the page needs no validator.
 */
export async function request<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await send(path, options)
  const body: { data: T } = await response.json()
  return body.data
}

/** Sends a request whose response has no data of interest. */
export async function requestDone(path: string, options?: RequestOptions): Promise<void> {
  await send(path, options)
}
