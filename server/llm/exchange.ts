// One request to a provider and its response, as the inspector of runs shows them: without keys, filled in while it happens.
import { oncePer } from '../lib/once-per.ts'
import type { TokenCounts } from './usage.ts'

/** Characters of thinking, of text and of all calls of a response that are kept, each. */
export const MAX_OUTPUT_CHARACTERS = 200_000
/** Characters of the body of a failed response that are kept. */
export const MAX_ERROR_CHARACTERS = 4_000
/** What stands for a key. */
export const KEY_PLACEHOLDER = '$API_KEY'

/** A text that arrives in many pieces, which are joined now and then: a long chain of them takes more memory than the text. */
export interface TextPieces {
  joined: string
  pieces: string[]
}

const JOIN_AT = 64
const emptyText = (): TextPieces => ({ joined: '', pieces: [] })

/** The whole text. */
export function wholeText(text: TextPieces): string {
  if (text.pieces.length > 0) text.joined += text.pieces.join('')
  text.pieces = []
  return text.joined
}

/** False, and nothing is added, once the text is as long as what is kept. */
export function addText(text: TextPieces, added: string): boolean {
  if (text.joined.length >= MAX_OUTPUT_CHARACTERS) return false
  if (text.pieces.push(added) >= JOIN_AT) wholeText(text)
  return true
}

/** One request to a provider and its response. A model call has several when it was retried. */
export interface ProviderExchange {
  /** The id of the model in the catalog. */
  model: string
  sentAt: Date
  /** Without user name, password and the values of parameters that may be keys. */
  url: string
  /** Keys are replaced by a placeholder. */
  headers: Readonly<Record<string, string>>
  /** What was sent as JSON; not changed afterwards. */
  body: Readonly<Record<string, unknown>>
  /** Null until the headers of the response have arrived. */
  status: number | null
  /** The provider's id of the request. */
  requestId: string | null
  /** Milliseconds until the headers of the response, and until its end. */
  headersMs: number | null
  endMs: number | null
  /** The beginning of the body of a failed response. */
  error: string | null
  thinking: TextPieces
  text: TextPieces
  calls: { name: string; arguments: string }[]
  /** How the response ended. */
  finish: string | null
  usage: TokenCounts | null
  /** The output is longer than what is kept of it. */
  isCut: boolean
}

/** Where a client adds what it exchanges with providers: the array of the request, and the model that is asked. */
export interface ExchangeTarget {
  model: string
  into: ProviderExchange[] | undefined
}

/** Begins an exchange; undefined if nobody wants to know. */
export function beginExchange(
  { model, into }: ExchangeTarget,
  /** None of it is changed afterwards. */
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
    thinking: emptyText(),
    text: emptyText(),
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

/** Notes the head of the response, and the body of a failed one. */
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

/** Headers that cannot hold a secret; of all others, only the name and the scheme are kept. */
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

/** Parameters that providers document and that are no keys. */
const PLAIN_PARAMETERS: ReadonlySet<string> = new Set(['api-version', 'alt', 'beta'])

const withoutKeys = oncePer((sent: URL): string => {
  const url = new URL(sent)
  url.username = ''
  url.password = ''
  for (const name of new Set(url.searchParams.keys()))
    if (!PLAIN_PARAMETERS.has(name)) url.searchParams.set(name, KEY_PLACEHOLDER)
  return url.href.replaceAll(encodeURIComponent(KEY_PLACEHOLDER), KEY_PLACEHOLDER)
})
