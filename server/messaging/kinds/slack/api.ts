// Calls of Slack's Web API with the tokens of an app, and what their answers mean for a delivery.
import { z } from 'zod'
import type { FetchOutcome, GuardedConnections } from '../../../net/guarded-fetch.ts'
import { storedFailure } from '../../../protocol/failures/stored.ts'
import type { SendOutcome } from '../../channel-kind.ts'
import type { PartOutcome } from '../../messenger.ts'
import { FETCH_REASONS } from '../../post.ts'

const TIMEOUT_MS = 20_000
const MAX_ANSWER_BYTES = 4_000_000

/** The settings of a channel. */
export interface SlackSettings {
  app_token: string
  bot_token: string
}

const Answer = z.looseObject({ ok: z.boolean(), error: z.string().optional() })

/** How Slack answers a call. */
export type SlackAnswer =
  | { ok: true; answer: unknown }
  | { ok: false; error: string; fault: SendOutcome & { ok: false } }

/** Slack with its dependencies. */
export interface Slack {
  readonly fetch: GuardedConnections
  readonly apiUrl: string
  now(): Date
  /** Calls a method that reads, whose parameters stand in the address. */
  get(
    settings: SlackSettings,
    method: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<SlackAnswer>
  /** Calls a method that changes something; `as`: with which of the tokens. */
  post(
    settings: SlackSettings,
    method: string,
    body: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    as?: keyof SlackSettings,
  ): Promise<SlackAnswer>
  /** Sends bytes to an address that Slack has named. Returns why that failed; null if it did not. */
  upload(
    url: string,
    bytes: Buffer,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<(SendOutcome & { ok: false }) | null>
}

/** Create one per process. */
export function createSlackApi({
  fetch,
  apiUrl,
  now,
}: Pick<Slack, 'fetch' | 'apiUrl' | 'now'>): Slack {
  const base = apiUrl.replace(/\/+$/, '')
  const call = async (
    token: string,
    method: string,
    body: string,
    contentType: string,
    signal: AbortSignal,
    timeoutMs = TIMEOUT_MS,
  ): Promise<SlackAnswer> =>
    readAnswer(
      await fetch(`${base}/${method}`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
        signal,
        timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        trusted: true,
      }),
    )
  return {
    fetch,
    apiUrl: base,
    now,
    get: (settings, method, query, signal, timeoutMs) => {
      const parameters = new URLSearchParams(query).toString()
      const address = parameters === '' ? method : `${method}?${parameters}`
      const type = 'application/x-www-form-urlencoded'
      return call(settings.bot_token, address, '', type, signal, timeoutMs)
    },
    post: (settings, method, body, signal, as = 'bot_token') =>
      call(settings[as], method, JSON.stringify(body), 'application/json; charset=utf-8', signal),
    async upload(url, bytes, signal, timeoutMs) {
      const response = await fetch(url, {
        method: 'POST',
        body: bytes,
        headers: { 'content-type': 'application/octet-stream' },
        signal,
        timeoutMs,
        maxBytes: 10_000,
        trusted: true,
      })
      if (response.ok && response.status >= 200 && response.status < 300) return null
      return response.ok ? refused(response.status) : unreached(response.fault)
    },
  }
}

const unreached = (fault: keyof typeof FETCH_REASONS): SendOutcome & { ok: false } => ({
  ok: false,
  failure: storedFailure(FETCH_REASONS[fault]),
  retry: true,
})

const refused = (status: number): SendOutcome & { ok: false } => ({
  ok: false,
  failure: storedFailure('delivery_refused', { status }),
  retry: status >= 500 || [408, 425, 429].includes(status),
})

/** Errors of Slack that pass by themselves. */
const PASSING = [
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]

function readAnswer(response: FetchOutcome): SlackAnswer {
  if (!response.ok) return { ok: false, error: '', fault: unreached(response.fault) }
  const { status } = response
  if (status < 200 || status >= 300)
    return { ok: false, error: status === 429 ? 'ratelimited' : '', fault: refused(status) }
  const answer = Answer.safeParse(parsed(response.body))
  // Whatever else it says, 2xx means that it took the call.
  if (!answer.success || answer.data.ok) return { ok: true, answer: answer.data }
  const { error = '' } = answer.data
  const failure = storedFailure('delivery_service_refused', { detail: error.slice(0, 100) })
  return { ok: false, error, fault: { ok: false, failure, retry: PASSING.includes(error) } }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return null
  }
}

const TOKEN_REFUSALS = [
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'not_allowed_token_type',
  'no_permission',
  'missing_scope',
]

/** Whether an error of Slack is about the token of that call. */
export const isTokenRefused = (error: string): boolean => TOKEN_REFUSALS.includes(error)

/** Whether an error of Slack says that the app has no Socket Mode. */
export const isSocketModeOff = (error: string): boolean =>
  ['socket_mode_not_enabled', 'link_disabled'].includes(error)

/** The outcome of sending a message, with the `ts` by which it can be changed. */
export function outcomeOf(called: SlackAnswer): PartOutcome {
  if (!called.ok) return called.fault
  const message = z.object({ ts: z.string() }).safeParse(called.answer)
  return message.success ? { ok: true, externalId: message.data.ts } : { ok: true }
}
