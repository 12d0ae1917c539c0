// One request to a provider and its response, for the inspector of runs. Contains no keys; filled in while it happens.

import { oncePer } from '../lib/once-per.ts'
import { addPiece, createGrowingText, type GrowingText } from './prose.ts'
import type { TokenCounts } from './usage.ts'

/** Maximum characters of a response that are recorded: of thinking, of text, and of all calls, each. */
export const MAX_OUTPUT_CHARACTERS = 200_000
/** Maximum characters of a failed response's body that are recorded. */
export const MAX_ERROR_CHARACTERS = 4_000
/** Replaces a key. */
export const KEY_PLACEHOLDER = '$API_KEY'

/** Returns false without adding anything once the text has the maximum length. */
export function addText(text: GrowingText, added: string): boolean {
  if (text.joined.length >= MAX_OUTPUT_CHARACTERS) return false
  addPiece(text, added)
  return true
}

/** One request to a provider and its response. A retried model call has several. */
export interface ProviderExchange {
  /** The id of the model in the catalog. */
  model: string
  sentAt: Date
  /** Without user name, password and the values of parameters that may be keys. */
  url: string
  /** Keys are replaced by a placeholder. */
  headers: Readonly<Record<string, string>>
  /** The JSON body of the request. Not changed afterwards. */
  body: Readonly<Record<string, unknown>>
  /** Null until the headers of the response have arrived. */
  status: number | null
  /** The provider's id for the request; null if it sent none. */
  requestId: string | null
  /** Milliseconds until the headers of the response, and until its end; null while they have not arrived. */
  headersMs: number | null
  endMs: number | null
  /** The beginning of a failed response's body; null if the response did not fail. */
  error: string | null
  thinking: GrowingText
  text: GrowingText
  calls: { name: string; arguments: string }[]
  /** The reason why the response ended, as the provider reported it; null if it did not. */
  finish: string | null
  usage: TokenCounts | null
  /** Whether the recorded output is cut. */
  isCut: boolean
}

/** Where a client adds its exchanges with providers: the array of the request, and the id of the model. */
export interface ExchangeTarget {
  model: string
  into: ProviderExchange[] | undefined
}

/** Begins an exchange. Returns undefined if nothing is recorded. */
export function beginExchange(
  { model, into }: ExchangeTarget,
  /** The caller must not change any of it afterwards. */
  sent: { url: URL; headers: Record<string, string>; body: Record<string, unknown> },
): ProviderExchange | undefined {
  if (into === undefined) return undefined
  const exchange: ProviderExchange = {
    model,
    sentAt: new Date(),
    url: withoutKeys(sent.url),
    headers: maskedHeaders(sent.headers),
    body: sent.body,
    status: null,
    requestId: null,
    headersMs: null,
    endMs: null,
    error: null,
    thinking: createGrowingText(),
    text: createGrowingText(),
    calls: [],
    finish: null,
    usage: null,
    isCut: false,
  }
  into.push(exchange)
  return exchange
}

/** Milliseconds since the request was sent. */
export const elapsedOf = ({ sentAt }: ProviderExchange): number =>
  Math.max(0, Date.now() - sentAt.getTime())

/** Records the status and headers of the response, and the body of a failed one. */
export function noteResponse(
  exchange: ProviderExchange | undefined,
  response: {
    status: number
    headers: { get(name: string): string | null | undefined }
    text?: string
  },
): void {
  if (exchange === undefined) return
  exchange.status = response.status
  exchange.headersMs = elapsedOf(exchange)
  const id = response.headers.get('x-request-id') ?? response.headers.get('request-id')
  exchange.requestId = id?.slice(0, 200) ?? null
  if (response.text === undefined) return
  exchange.error = response.text.slice(0, MAX_ERROR_CHARACTERS)
  exchange.endMs = exchange.headersMs
}

/** Headers that cannot contain a secret. Of all others, only the name and the scheme are recorded. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'anthropic-version',
  'content-type',
  'user-agent',
])

const maskedHeaders = oncePer((headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      PLAIN_HEADERS.has(name)
        ? value
        : /^bearer /i.test(value)
          ? `Bearer ${KEY_PLACEHOLDER}`
          : KEY_PLACEHOLDER,
    ]),
  ),
)

/** Parameters that providers document and that are not keys. */
const PLAIN_PARAMETERS: ReadonlySet<string> = new Set(['api-version', 'alt', 'beta'])

const withoutKeys = oncePer((sent: URL): string => {
  const url = new URL(sent)
  url.username = ''
  url.password = ''
  for (const name of new Set(url.searchParams.keys()))
    if (!PLAIN_PARAMETERS.has(name)) url.searchParams.set(name, KEY_PLACEHOLDER)
  return url.href.replaceAll(encodeURIComponent(KEY_PLACEHOLDER), KEY_PLACEHOLDER)
})
