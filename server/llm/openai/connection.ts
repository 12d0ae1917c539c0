// The `openai` package, set up for one model: our own HTTP under it, no retries, nothing taken from the environment.
import type { OpenAI } from 'openai'
import type { AppError } from '../../errors.ts'
import type { ModelSettings } from '../../protocol/catalog.ts'
import {
  connectionFailure,
  type FailureContext,
  readRetryAfter,
  statusFailure,
} from '../failure.ts'
import type { ByteFetch } from './byte-fetch.ts'
import { splitApiUrl } from './provider-quirks.ts'

/** Longer than any request: the limits that count are the silence watch's. */
const NO_TIMEOUT_MS = 2_000_000_000

/** The package is loaded with the first use: it is large, and a server with the demo model never needs it. */
export async function connectOpenAi(
  settings: Pick<ModelSettings, 'api_url' | 'api_key'>,
  byteFetch: ByteFetch,
): Promise<OpenAI> {
  const { OpenAI } = await import('openai')
  const { base, query } = splitApiUrl(settings.api_url)
  const hasKey = settings.api_key !== undefined && settings.api_key !== ''
  return new OpenAI({
    baseURL: base,
    // The package insists on a key; without one the header is taken out again.
    apiKey: hasKey ? settings.api_key : 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
    fetch: byteFetch.fetch,
    defaultQuery: query,
    defaultHeaders: {
      'user-agent': 'nanoclaw',
      'accept-encoding': 'identity',
      ...(hasKey ? {} : { authorization: null }),
      ...Object.fromEntries(telltaleHeaders.map((name) => [name, null])),
    },
  })
}

/** What the package tells providers about the machine; none of their business. */
const telltaleHeaders = [
  'x-stainless-arch',
  'x-stainless-lang',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-timeout',
]

/** Why a request of the package failed before its answer could be read. */
export function requestFailure(error: unknown, context: FailureContext): AppError {
  // Read by shape, so that the package need not be loaded to look at its errors.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : Number.NaN
  if (!(error instanceof Error) || !Number.isInteger(status))
    return connectionFailure(error, context)
  const headers = 'headers' in error && error.headers instanceof Headers ? error.headers : undefined
  const body = 'error' in error && error.error !== undefined ? error.error : error.message
  const retryAfter = readRetryAfter(headers?.get('retry-after') ?? null, Date.now())
  return statusFailure({ status, body, retryAfter }, context, error)
}
