// Sends one POST to an address that a user chose, and interprets its response for a delivery.
import type { FetchFault } from '../net/fetch-faults.ts'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import { type StoredFailureReason, storedFailure } from '../protocol/failures/stored.ts'
import type { SendOutcome } from './channel-kind.ts'

const TIMEOUT_MS = 15_000

/** Why a request did not reach its receiver. */
export const FETCH_REASONS = {
  host_unknown: 'delivery_receiver_host_unknown',
  connection_refused: 'delivery_receiver_refused_connection',
  connection_lost: 'delivery_receiver_closed_connection',
  unreachable: 'delivery_receiver_unreachable',
  timed_out: 'delivery_receiver_timed_out',
  certificate_invalid: 'delivery_receiver_certificate_invalid',
  address_refused: 'delivery_receiver_address_refused',
  failed: 'delivery_failed',
} as const satisfies Record<FetchFault, StoredFailureReason>

/** The options of a request to a receiver. */
export interface PostOptions {
  fetch: GuardedFetch
  url: string
  body: string | Uint8Array
  headers?: Readonly<Record<string, string>>
  signal: AbortSignal
  /** Whether the URL comes from the operator, not from the user. */
  trusted?: boolean
}

/** A POST of JSON. */
export const postJson = (options: PostOptions): Promise<SendOutcome> =>
  post({ ...options, headers: { 'content-type': 'application/json', ...options.headers } })

/** 2xx means delivered. No response, 5xx, 408, 425 and 429 may be retried; any other status is final. */
export async function post(options: PostOptions): Promise<SendOutcome> {
  const response = await options.fetch(options.url, {
    method: 'POST',
    body: options.body,
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    signal: options.signal,
    timeoutMs: TIMEOUT_MS,
    maxBytes: 10_000,
    ...(options.trusted === undefined ? {} : { trusted: options.trusted }),
  })
  if (!response.ok)
    return { ok: false, failure: storedFailure(FETCH_REASONS[response.fault]), retry: true }
  if (response.status >= 200 && response.status < 300) return { ok: true }
  const busy = response.status >= 500 || [408, 425, 429].includes(response.status)
  return {
    ok: false,
    failure: storedFailure('delivery_refused', { status: response.status }),
    retry: busy,
  }
}
