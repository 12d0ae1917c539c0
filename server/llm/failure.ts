// Failures of models as errors that name the kind of failure and the model, never a URL or a key; and what their finish reasons mean.
import { type AppError, appError } from '../errors.ts'
import { asRecord, isRecord } from '../lib/records.ts'
import { readTolerantly } from './tolerant-json.ts'

/** What the text of an error mentions. */
export interface FailureContext {
  /** The model's name for people. */
  model: string
  /** Redacted if the provider repeats it, as are the `secrets`: the values of the model's own headers. */
  apiKey?: string | undefined
  secrets?: readonly string[] | undefined
}

interface Reply {
  status: number
  /** The body, or the error object of a stream. May have any shape. */
  body: unknown
  /** Seconds, from the `Retry-After` header. */
  retryAfter?: number | undefined
}

const MAX_DETAIL = 300

/** The error for an HTTP status. It says what to do, and quotes the provider's message, sanitized. */
export function statusFailure(reply: Reply, context: FailureContext, cause?: unknown): AppError {
  const { status } = reply
  const words = providerText(reply.body)
  const codes = providerCodes(reply.body).join(' ')
  const retryAfter = reply.retryAfter ?? retryDelayOf(reply.body)
  const reason = reasonOf(status, { words, codes, mayPass: retryAfter !== undefined })
  return appError(
    reason,
    {
      model: context.model,
      status,
      ...(retryAfter === undefined ? {} : { retry_after_seconds: Math.ceil(retryAfter) }),
    },
    {
      details: { status },
      cause,
      retryable: MAY_PASS.has(reason),
      providerSays: sanitize(words === '' ? codes : words, context),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    },
  )
}

/** Reasons that another attempt may not meet again. */
const MAY_PASS: ReadonlySet<string> = new Set([
  'model_rate_limited',
  'model_timeout',
  'model_unavailable',
])

/** What a provider said: its message, and its machine-readable words for the kind of error. */
interface Said {
  words: string
  codes: string
  /** Whether the provider named a time after which another attempt may succeed. */
  mayPass: boolean
}

const NO_CREDIT =
  /insufficient.{0,3}(?:balance|credit|fund)|(?:balance|credit).{0,20}(?:too low|insufficient|exhausted)|out of credit|no credit|billing_error|arrear|余额不足|欠费/i
const NO_QUOTA = /insufficient_quota|exceeded your current quota|quota.{0,20}(?:exhausted|used up)/i
const BAD_KEY =
  /(?:invalid|incorrect|wrong|expired|missing|unknown|revoked).{0,10}\b(?:api|access|auth\w*).{0,3}(?:key|token)|api.?key.{0,20}(?:not valid|invalid|incorrect|expired|not found|revoked|required|missing)|invalid_api_key|authentication_error|unauthenticated|unauthori[sz]ed|auth\.?failure/i
const FILTERED =
  /content.?(?:filter|policy|management)|responsible.?ai|moderation|flagged|sensitive|data_inspection|the (?:content |input )?filter|敏感|违规|审核/i
const NO_MODEL =
  /model_not_found|no such model|unknown model|invalid model|model.{0,80}(?:does not exist|not exist|not found|is not supported|not available)/i
/** A 403 for another reason than the key. */
const NOT_ALLOWED =
  /region|country|territory|permission_denied|does not have (?:access|permission)|not allowed to|policy/i
/** A 404 for another reason than the address or the name. */
const NO_ENDPOINT = /no endpoints? found|no allowed providers|data policy/i

/** The reason for a status. What the provider says is more specific: gateways send a 429 or a 500 for everything. */
function reasonOf(status: number, { words, codes, mayPass }: Said) {
  const all = `${words} ${codes}`
  if (saysTooLong(all, status)) return 'model_context_exceeded'
  if (
    status === 429 &&
    !mayPass &&
    (NO_CREDIT.test(all) || NO_QUOTA.test(all) || /balance/i.test(all))
  )
    return 'model_rate_limited_quota'
  if (status === 402 || (status !== 429 && NO_CREDIT.test(all))) return 'model_refused_credit'
  if (status !== 429 && NO_QUOTA.test(all)) return 'model_rate_limited_quota'
  if (status === 403 && (FILTERED.test(all) || NOT_ALLOWED.test(all)) && !BAD_KEY.test(all))
    return 'model_refused'
  if (status === 401 || status === 403 || BAD_KEY.test(all)) return 'model_unauthorized'
  if (status === 404) return NO_ENDPOINT.test(all) ? 'model_refused' : 'model_not_found'
  if (NO_MODEL.test(all) && status !== 429) return 'model_not_found'
  if (status === 429) return 'model_rate_limited'
  if (status === 408 || status === 504) return 'model_timeout'
  if (status >= 500) return FILTERED.test(all) ? 'model_refused' : 'model_unavailable'
  return status >= 300 && status < 400 ? 'model_redirected' : 'model_refused'
}

/**
 * The HTTP status that a provider's word for the kind of an error corresponds to: Anthropic's, OpenAI's and Google's
 * (https://cloud.google.com/apis/design/errors).
 */
const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
  ['server_error', 500],
  ['internal_server_error', 500],
  ['service_unavailable', 503],
  ['rate_limit', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['invalid_api_key', 401],
  ['model_not_found', 404],
  ['context_length_exceeded', 400],
  ['content_filter', 400],
  ['content_policy_violation', 400],
  ['bad_request', 400],
  ['invalid_argument', 400],
  ['failed_precondition', 400],
  ['unauthenticated', 401],
  ['permission_denied', 403],
  ['not_found', 404],
  ['resource_exhausted', 429],
  ['internal', 500],
  ['unavailable', 503],
  ['deadline_exceeded', 504],
])

/** The error for an error object within a stream or in the body of a 200. */
export function errorObjectFailure(error: unknown, context: FailureContext): AppError {
  const codes = providerCodes(error)
  const words = `${providerText(error)} ${codes.join(' ')}`
  const status = statusOfCodes(codes) ?? statusOfWords(words)
  if (status !== undefined) return statusFailure({ status, body: error }, context)
  return appError(
    'model_unavailable_reported',
    { model: context.model },
    { retryable: true, cause: error, providerSays: sanitize(providerText(error), context) },
  )
}

function statusOfCodes(codes: readonly string[]): number | undefined {
  const named = codes.flatMap((code) => STATUS_OF_CODE.get(code.toLowerCase()) ?? [])
  const numbers = codes
    .map(Number)
    .filter((code) => Number.isInteger(code) && code >= 400 && code < 600)
  if (numbers[0] !== undefined || named[0] !== undefined) return numbers[0] ?? named[0]
  return codes.some((code) => /^(?:invalid|unsupported|image|empty)_/.test(code)) ? 400 : undefined
}

function statusOfWords(words: string): number | undefined {
  if (NO_CREDIT.test(words)) return 402
  if (/rate.?limit|too many requests/i.test(words) || NO_QUOTA.test(words)) return 429
  if (/api.?key|unauthori[sz]ed|authentication/i.test(words)) return 401
  if (/invalid_request|bad.?request/i.test(words) || FILTERED.test(words)) return 400
  return saysTooLong(words, 400) || NO_MODEL.test(words) ? 400 : undefined
}

/**
 * What reports an error in a message of a stream or in a body: the error itself or an object that contains it. Undefined if
 * the value is no error. Providers and gateways send it as OpenAI does, as a list (Gemini), with a bare `detail` (FastAPI),
 * `msg` or `message`, and with `base_resp` (MiniMax).
 */
export function errorIn(value: unknown): unknown {
  if (Array.isArray(value)) {
    const found = value.slice(0, MAX_LIST).map(errorIn)
    return found.find((error) => error !== undefined)
  }
  if (!isRecord(value)) return undefined
  const { error, choices, base_resp: state } = value
  if (isRecord(error) || Array.isArray(error)) return error
  if (error !== undefined && error !== null && error !== false && error !== '')
    return typeof value.message === 'string' || typeof value.detail === 'string' ? value : error
  const ofCloud = asRecord(value.Response)?.Error ?? asRecord(value.ResponseMetadata)?.Error
  if (isRecord(ofCloud)) return ofCloud
  if (value.object === 'error') return value
  if (value.type === 'error' && choices === undefined) return value
  if (isRecord(state) && typeof state.status_code === 'number' && state.status_code !== 0)
    return state
  const isAnswer = choices !== undefined || typeof value.type === 'string' || isRecord(value.usage)
  if (isAnswer || typeof value.object === 'string') return undefined
  const isBare =
    value.success === false ||
    BARE_FIELDS.some((name) => typeof value[name] === 'string' || Array.isArray(value[name]))
  return isBare && providerText(value) !== '' ? value : undefined
}

/** Fields whose text makes an object an error that has nothing else of an answer. */
const BARE_FIELDS = [
  'detail',
  'msg',
  'message',
  'Message',
  'errors',
  'error_msg',
  'error_message',
  'errorMsg',
  'err_msg',
  'errMsg',
] as const

const CONNECTION_REASONS = {
  ECONNREFUSED: 'model_unavailable_connection_refused',
  ENOTFOUND: 'model_unavailable_host_unknown',
  EAI_AGAIN: 'model_unavailable_host_not_found',
  ECONNRESET: 'model_unavailable_connection_closed',
  EPIPE: 'model_unavailable_connection_closed',
  UND_ERR_SOCKET: 'model_unavailable_connection_closed',
  ETIMEDOUT: 'model_unavailable_connection_timed_out',
  UND_ERR_CONNECT_TIMEOUT: 'model_unavailable_connection_timed_out',
  EHOSTUNREACH: 'model_unavailable_host_unreachable',
  ENETUNREACH: 'model_unavailable_network',
} as const
const isConnectionFault = (code: string): code is keyof typeof CONNECTION_REASONS =>
  Object.hasOwn(CONNECTION_REASONS, code)

/** The connection failed before a response was received. */
export function connectionFailure(error: unknown, context: FailureContext): AppError {
  const code = deepestCode(error)
  const reason = isConnectionFault(code)
    ? CONNECTION_REASONS[code]
    : /CERT|SSL|TLS|SELF_SIGNED/.test(code)
      ? 'model_unavailable_insecure'
      : 'model_unavailable_connection'
  return appError(reason, { model: context.model }, { retryable: true, cause: error })
}

/** The stream ended or broke before the model had finished. */
export const brokenStream = ({ model }: FailureContext, cause?: unknown): AppError =>
  appError('model_stream_broken', { model }, { retryable: true, cause })

/** Parts of the answer arrived twice or out of order, so the received text may differ from what the model wrote. */
export const disorderedStream = ({ model }: FailureContext): AppError =>
  appError('model_stream_disordered', { model }, { retryable: true })

/** The provider sent more than any model writes, and did not end. */
export const endlessAnswer = ({ model }: FailureContext): AppError =>
  appError('model_answer_endless', { model })

/** The provider sent nothing for `seconds`. A retry may succeed. */
export const silenceFailure = ({ model }: FailureContext, seconds: number): AppError =>
  appError(
    'model_timeout_silence',
    { model, seconds: Math.round(seconds * 10) / 10 },
    { retryable: true },
  )

/** The response is not in the format of a chat API. */
export const unreadableAnswer = (
  { model }: FailureContext,
  reason: 'model_answer_is_page' | 'model_answer_no_json' | 'model_answer_no_stream',
): AppError => appError(reason, { model })

/** A response that ended without an answer for the person, or whose call the provider could not read. */
export const answerless = (
  { model }: FailureContext,
  reason:
    | 'model_answer_empty'
    | 'model_answer_only_thinking'
    | 'model_answer_only_thinking_cut'
    | 'model_call_malformed',
): AppError => appError(reason, { model }, { retryable: true })

/** Whether the provider answered as it should, only without text for the person. */
export const isAnswerless = ({ reason }: AppError): boolean =>
  reason === 'model_answer_only_thinking' || reason === 'model_answer_only_thinking_cut'

/** A content filter, or the model itself, ended the answer. @param finishReason the provider's word for it. */
export const filteredAnswer = (
  context: FailureContext,
  finishReason: string,
  explanation = '',
): AppError =>
  appError(
    'model_answer_filtered',
    { model: context.model, finish_reason: finishReason.slice(0, 60) },
    { providerSays: sanitize(explanation, context) },
  )

/** The client reported neither that the answer is complete nor why it is not. */
export const unfinishedAnswer = (): AppError => appError('model_answer_unfinished')

/** In prompt mode: the model must write its tool call again. */
export const unreadableCall = (): AppError => appError('model_call_unreadable')

/** The end of an aborted request. Nobody reads its text. */
export const abortedFailure = ({ model }: FailureContext): AppError =>
  appError('model_stopped', { model })

/** Parses a `Retry-After` header (a number or a date) to seconds; undefined if there is none. `now` is in milliseconds. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000)
}

/** Fields that contain a message, most specific first. */
const TEXT_FIELDS = [
  'message',
  'Message',
  'msg',
  'detail',
  'error',
  'error_message',
  'errorMessage',
  'error_msg',
  'errorMsg',
  'err_msg',
  'errMsg',
  'error_description',
  'status_msg',
  'base_resp',
  'errors',
  'errmsg',
  'faultstring',
  'description',
  'details',
  'title',
  'reason',
] as const
/** Fields that name the kind of an error. */
const CODE_FIELDS = [
  'code',
  'Code',
  'status',
  'type',
  'status_code',
  'error_code',
  'http_code',
] as const
/** Fields that contain a further error object. */
const INNER_FIELDS = ['error', 'message', 'detail', 'base_resp', 'metadata', 'raw'] as const
/** Fields of clouds and gateways that hold an error somewhere within: `Response.Error`, `ResponseMetadata.Error`, `fault`, `result`. */
const OUTER_FIELD = /^(?:error|fault|exception|response|responsemetadata|result|output|data)$/i
const MAX_LEVELS = 6
const MAX_LIST = 5
/** What gateways say when the error of the provider itself is elsewhere in the body. */
const SAYS_NOTHING =
  /^(?:provider returned error|upstream error|bad request|error|unknown error)\.?$/i

/** The message of an error in XML, as storage services and gateways of clouds write it. */
const XML_MESSAGE = /<(?:message|faultstring)>([^<]{1,2000})</i

/** The message in an error body of any shape; empty for HTML pages and empty bodies. */
function providerText(body: unknown, level = 0): string {
  if (level > MAX_LEVELS) return ''
  if (typeof body === 'string') {
    const inner = jsonIn(body)
    const said = inner === undefined ? '' : providerText(inner, level + 1)
    if (said !== '') return said
    const inXml = XML_MESSAGE.exec(body)?.[1]?.trim() ?? ''
    // If the text contains HTML, use only what precedes it.
    return inXml === '' ? (body.split(/<(?:[!?]|\/?[a-z])/i, 1)[0] ?? '').trim() : inXml
  }
  if (Array.isArray(body)) {
    const texts = body.slice(0, MAX_LIST).map((item) => providerText(item, level + 1))
    return [...new Set(texts.filter((text) => text !== ''))].join('; ')
  }
  const fields = asRecord(body)
  if (fields === undefined) return ''
  const texts = [
    ...TEXT_FIELDS.map((name) => fields[name]),
    ...Object.entries(fields).flatMap(([name, value]) =>
      OUTER_FIELD.test(name) && typeof value === 'object' ? [value] : [],
    ),
  ].map((value) => providerText(value, level + 1))
  const own = texts.find((text) => text !== '' && !SAYS_NOTHING.test(text))
  // OpenRouter: what the provider itself said.
  const raw = providerText(asRecord(fields.metadata)?.raw, level + 1)
  const place = Array.isArray(fields.loc) ? `${fields.loc.join('.')}: ` : ''
  return own === undefined ? raw || (texts.find((text) => text !== '') ?? '') : place + own
}

/** The JSON or Python object in a text, such as `400 Bad Request: {"error": …}`; undefined if there is none. */
function jsonIn(text: string): unknown {
  const at = /^\s*\[/.test(text) ? 0 : text.slice(0, 2_000).search(/\{\s*["']/)
  if (at === -1) return undefined
  const json = readTolerantly(text.slice(at, at + 20_000), { mayClose: true })?.json
  return json === undefined ? undefined : (JSON.parse(json) as unknown)
}

/** The words and numbers by which an error names its kind, those of the outermost object first. */
function providerCodes(body: unknown, level = 0): string[] {
  if (level > MAX_LEVELS) return []
  if (Array.isArray(body)) return body.slice(0, 1).flatMap((item) => providerCodes(item, level + 1))
  const fields = typeof body === 'string' ? asRecord(jsonIn(body)) : asRecord(body)
  if (fields === undefined) return []
  const own = CODE_FIELDS.flatMap((name) => {
    const value = fields[name]
    const isWord = typeof value === 'string' && /^[\w.-]{1,60}$/.test(value) && value !== 'error'
    return isWord || typeof value === 'number' ? [String(value)] : []
  })
  const outer = Object.keys(fields).filter(
    (name) => OUTER_FIELD.test(name) && typeof fields[name] === 'object',
  )
  return [
    ...own,
    ...[...new Set([...INNER_FIELDS, ...outer])].flatMap((name) =>
      providerCodes(fields[name], level + 1),
    ),
  ]
}

/** Google's `RetryInfo`, in seconds (https://cloud.google.com/apis/design/errors#error_payloads). */
function retryDelayOf(body: unknown): number | undefined {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  const found = /retryDelay\\*"\s*:\s*\\*"(\d+(?:\.\d+)?)s/.exec(text.slice(0, 20_000))?.[1]
  return found === undefined ? undefined : Number(found)
}

/** @param status a 429 for too many tokens is a rate limit. */
const saysTooLong = (words: string, status: number): boolean =>
  /context.{0,20}(?:length|window|size|is full|limit)|maximum context|(?:prompt|input|request) is too long|exceeds? the (?:available|max\w*) context|string_above_max_length|range of input length/i.test(
    words,
  ) ||
  (status !== 429 && /too many (?:input )?tokens|input token count.{0,40}exceeds/i.test(words))

/**
 * Addresses without a scheme, with the path after them: hosts with a port, IP addresses, and hosts with a path, because a path may be
 * a secret.
 */
const HOST_AND_PATH =
  /(?:(?:\[[0-9a-f:.]+\]|\b\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?|\b(?:localhost|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}):\d{2,5}|\b[a-z][\w-]*:\d{4,5}\b)(?:\/[^\s"'<>]*)?|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\/[^\s"'<>]*/gi

/** Reduces a provider's message to one short line without keys and addresses. */
function sanitize(words: string, context: FailureContext): string {
  const secrets = [context.apiKey ?? '', ...(context.secrets ?? [])]
  return secrets
    .filter((secret) => secret.length >= 4)
    .reduce((text, secret) => text.replaceAll(secret, '[key]'), words)
    .slice(0, 4000)
    .replace(/\b(sk|pk|nc|gsk|or)-[\w-]{6,}/g, '[key]')
    .replace(/\b[a-z][a-z+.-]*:\/\/\S+/gi, '[address]')
    .replace(HOST_AND_PATH, '[address]')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_DETAIL)
}

function deepestCode(error: unknown): string {
  let code = ''
  let at: unknown = error
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if ('code' in at && typeof at.code === 'string') code = at.code
    const inner: unknown = at instanceof AggregateError ? at.errors[0] : undefined
    at = inner ?? at.cause
  }
  return code
}

// What a provider's finish reason means, in whatever words and case it comes.

/**
 * How a response ended. `filter`: a content filter or the model itself refused; `malformed`: the provider could not read
 * the model's call; `error`: the provider failed; `pause`: the model waits for a tool of the provider.
 */
type Ending = 'stop' | 'length' | 'filter' | 'malformed' | 'error' | 'pause'

/**
 * OpenAI's, Anthropic's, Gemini's (https://ai.google.dev/api/generate-content#FinishReason), Bedrock's, Cohere's, Mistral's and
 * GLM's words, without the case and with single underscores. Every other word means that the model stopped by itself.
 */
const ENDINGS: ReadonlyMap<string, Ending> = new Map(
  Object.entries({
    length: [
      'length',
      'max_tokens',
      'max_output_tokens',
      'max_completion_tokens',
      'max_new_tokens',
      'max_length',
      'model_length',
      'token_limit',
      'context_length',
      'context_length_exceeded',
      'context_window_exceeded',
      'model_context_window_exceeded',
      'truncated',
      'incomplete',
      'repetition',
      'repetition_truncation',
      'time_limit',
    ],
    filter: [
      'content_filter',
      'content_filtered',
      'safety',
      'recitation',
      'language',
      'blocklist',
      'prohibited_content',
      'spii',
      'image_safety',
      'image_prohibited_content',
      'image_recitation',
      'guardrail_intervened',
      'refusal',
      'refused',
      'sensitive',
      'moderation',
      'censored',
      'blocked',
      'error_toxic',
      'data_inspection_failed',
    ],
    malformed: [
      'malformed_function_call',
      'malformed_tool_use',
      'malformed_model_output',
      'malformed_response',
      'unexpected_tool_call',
      'too_many_tool_calls',
      'missing_thought_signature',
    ],
    error: [
      'error',
      'error_limit',
      'failed',
      'network_error',
      'insufficient_system_resource',
      'abort',
      'aborted',
      'cancelled',
      'canceled',
      'timeout',
      'other_error',
    ],
    pause: ['pause_turn'],
  } satisfies Record<Exclude<Ending, 'stop'>, string[]>).flatMap(([ending, words]) =>
    // The keys are those of the object above.
    words.map((word) => [word, ending as Ending] as const),
  ),
)

/** How a response with this finish reason ended. */
export const endingOf = (reason: string | null): Ending =>
  ENDINGS.get(
    (reason ?? '')
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replace(/[^a-z]+/g, '_')
      .replace(/^_|_$|^finish_reason_|^_?finishreason_/g, ''),
  ) ?? 'stop'
