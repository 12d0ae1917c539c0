// Requests to the API of one model: URL, headers, the longest silence, and the error of a failed request.
import type { AppError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { ModelSettings } from '../../protocol/models/catalog.ts'
import { beginExchange, type ExchangeTarget, KEY_PLACEHOLDER, noteResponse } from '../exchange.ts'
import { type FailureContext, readRetryAfter, statusFailure } from '../failure.ts'
import { splitApiUrl } from '../provider-quirks.ts'
import { toolsJson } from '../tokens.ts'
import type { ProviderHttp, ProviderResponse } from './provider-http.ts'

/** Requests to one provider, with its address, key and headers. */
export interface OpenAiConnection {
  get(path: string, signal: AbortSignal): Promise<ProviderResponse>
  /** Sends `body` as JSON, and records it in `target` with the status and headers of the response. */
  post(
    path: string,
    body: Record<string, unknown>,
    signal: AbortSignal,
    target?: ExchangeTarget,
  ): Promise<ProviderResponse>
}

/**
 * Sends only these headers: nothing about the machine, and no key from the environment.
 * @param authentication headers that replace the bearer token. The model's own headers take precedence over all others.
 */
export function connectOpenAi(
  settings: Pick<ModelSettings, 'api_url' | 'api_key' | 'headers'>,
  http: ProviderHttp,
  authentication?: Record<string, string>,
): OpenAiConnection {
  const { base, query } = splitApiUrl(settings.api_url)
  const headers: Record<string, string> = {
    accept: 'application/json',
    // Compression delays the pieces of a stream.
    'accept-encoding': 'identity',
    'user-agent': 'nanoclaw',
  }
  if (authentication !== undefined) Object.assign(headers, authentication)
  else if (settings.api_key !== undefined && settings.api_key !== '')
    headers.authorization = `Bearer ${settings.api_key}`
  const own = Object.entries(settings.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  )
  Object.assign(headers, Object.fromEntries(own))
  const postHeaders = { ...headers, 'content-type': 'application/json' }
  /** What the inspector may show. */
  const shownHeaders = {
    ...postHeaders,
    ...Object.fromEntries(own.map(([name]) => [name, KEY_PLACEHOLDER])),
  }
  const urls = new Map<string, URL>()
  const urlOf = (path: string): URL => {
    const known = urls.get(path)
    if (known !== undefined) return known
    const url = new URL(base + path)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    urls.set(path, url)
    return url
  }
  return {
    get: (path, signal) => http.request({ url: urlOf(path), headers, signal }),
    async post(path, body, signal, target) {
      const url = urlOf(path)
      const exchange =
        target === undefined
          ? undefined
          : beginExchange(target, { url, headers: shownHeaders, body })
      const text = bodyText(body)
      const response = await http.request({ url, headers: postHeaders, body: text, signal })
      noteResponse(exchange, response)
      return response
    },
  }
}

/** Like `JSON.stringify`, but reuses the text of tools that earlier requests had. Every character is whole. */
function bodyText(body: Record<string, unknown>): string {
  const { tools } = body
  if (!Array.isArray(tools)) return wholeCharacters(JSON.stringify(body))
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const json = name === 'tools' ? toolsJson(tools) : JSON.stringify(value)
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`]
  })
  return wholeCharacters(`{${fields.join(',')}}`)
}

/** Half of a character that consists of two, which `JSON.stringify` escapes: cutting a text may leave it. */
const HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** Anthropic and others refuse a request that contains half of a character. */
const wholeCharacters = (json: string): string =>
  json.includes('\\ud') ? json.replace(HALF, '$1\\ufffd') : json

/** The error for a failed request. */
export function refusal(
  { status, headers, text }: Extract<ProviderResponse, { ok: false }>,
  context: FailureContext,
): AppError {
  const retryAfter = readRetryAfter(headers.get('retry-after') ?? null, Date.now())
  return statusFailure({ status, body: parsed(text), retryAfter }, context)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Aborts a request if nothing arrives for too long. */
export interface SilenceWatch {
  /** Pass this to the request. */
  readonly signal: AbortSignal
  /** Whether silence ended the request. */
  readonly silent: boolean
  /** Call it when data has arrived. Restarts the timeout. */
  dataArrived(): void
  /** Reduces the timeout to this value if it is longer. */
  shorten(milliseconds: number): void
  /** Removes the listener and the timer. */
  close(): void
}

/** @param idleMs milliseconds of silence after which the signal aborts. */
export function watchSilence(outer: AbortSignal, idleMs: number): SilenceWatch {
  const controller = new AbortController()
  let silent = false
  const stop = () => controller.abort(outer.reason)
  const expire = () => {
    silent = true
    controller.abort(new Error('silence'))
  }
  let limit = idleMs
  let timer = setTimeout(expire, limit)
  const stopListening = onAbort(outer, stop)
  return {
    signal: controller.signal,
    get silent() {
      return silent
    },
    dataArrived: () => void timer.refresh(),
    shorten(milliseconds) {
      if (milliseconds >= limit) return
      limit = milliseconds
      clearTimeout(timer)
      timer = setTimeout(expire, limit)
    },
    close() {
      clearTimeout(timer)
      stopListening()
    },
  }
}
