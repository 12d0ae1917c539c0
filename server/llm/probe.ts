// Determines with a few tiny requests what a provider supports, so that adding one requires no knowledge of it.
import { type AppError, appError } from '../errors.ts'
import { deadline } from '../lib/abort.ts'
import type { ModelApi, ModelSettings, ProbeReport } from '../protocol/models/catalog.ts'
import type { LlmMessage, LlmRequest, ToolSchema } from './client.ts'
import { findModelRow, guessModelRow, priceOf } from './model-table.ts'
import { exchange, listModels, type ProbeAnswer } from './probe/probe-requests.ts'
import { apiOf, detectProvider } from './provider-quirks.ts'
import { createProviderHttp, type ProviderHttp } from './streaming/provider-http.ts'

/** Finds out what a provider and its models support. */
export interface ModelProbe {
  /** Never throws; `error` says why a provider is unusable. Takes at most a minute. */
  probe(target: ProbeTarget, signal: AbortSignal): Promise<ProbeReport>
  close(): Promise<void>
}

/** A provider as an administrator enters it. */
export interface ProbeTarget {
  /** The base URL of the API, the full `…/chat/completions`, or only the server's address. */
  api_url: string
  api_key?: string | undefined
  headers?: ModelSettings['headers'] | undefined
  /** Default: the first chat model in the provider's list. */
  upstream_model?: string | undefined
  /** Default: detected from the URL, otherwise by trying. */
  api?: ModelApi | undefined
}

/** Time limits in seconds, for a single request and for all requests. */
const REQUEST_SECONDS = 30
const PROBE_SECONDS = 60
/** Enough for a model that thinks first. */
const MAX_TOKENS = 400

/** Call `close` at the end, because it holds connections to providers. */
export function createModelProbe(http: ProviderHttp = createProviderHttp()): ModelProbe {
  return {
    async probe(target, signal) {
      const limited = deadline(PROBE_SECONDS * 1000, signal)
      for (const apiUrl of candidateUrls(target.api_url)) {
        const report = await probeUrl({ ...target, api_url: apiUrl }, http, limited)
        if (report !== null) return report
      }
      return { ...EMPTY_REPORT, ...faultOf(appError('model_api_missing')) }
    },
    close: () => http.close(),
  }
}

/** The URL as given and, if it has no path, also with `/v1`. */
function candidateUrls(apiUrl: string): string[] {
  const path = new URL(apiUrl).pathname.replace(/\/+$/, '')
  return path === '' ? [`${apiUrl.replace(/\/+$/, '')}/v1`, apiUrl] : [apiUrl]
}

/** Null if there is a server at this URL, but no API. */
async function probeUrl(
  target: ProbeTarget,
  http: ProviderHttp,
  signal: AbortSignal,
): Promise<ProbeReport | null> {
  const base: ModelSettings = {
    id: target.upstream_model ?? new URL(target.api_url).host,
    api_url: target.api_url,
    provider: detectProvider(target.api_url),
    ...(target.api === undefined ? {} : { api: target.api }),
    ...(target.headers === undefined ? {} : { headers: target.headers }),
    ...(target.api_key === undefined || target.api_key === '' ? {} : { api_key: target.api_key }),
  }
  const ask = (settings: ModelSettings, request: Partial<LlmRequest>) =>
    exchange(
      settings,
      { messages: [], tools: [], maxTokens: MAX_TOKENS, thinking: true, signal, ...request },
      { http, idleSeconds: REQUEST_SECONDS },
    )

  const detected = apiOf(base)
  const apis: readonly ModelApi[] =
    target.api === undefined && detected === 'chat' ? ANY_API : [detected]
  const listed = await listWith(base, apis, http, signal)
  const models = listed.models
  const model = target.upstream_model ?? models.find(canChat) ?? models[0]
  const known = { ...EMPTY_REPORT, models, reachable: listed.failure === null }
  if (model === undefined) {
    if (
      listed.failure?.code === 'model_unavailable' ||
      listed.failure?.code === 'model_unauthorized'
    )
      return { ...known, ...faultOf(listed.failure) }
    // Some providers list no models. Without a name, nothing can be probed.
    return listed.failure === null ? { ...known, ...faultOf(appError('model_list_empty')) } : null
  }

  const { first, settings: tried } = await findApi({ ...base, id: model }, apis, ask)
  if (first.failure !== null)
    return isElsewhere(first.failure) && models.length === 0
      ? null
      : {
          ...known,
          reachable:
            first.failure.code !== 'model_unauthorized' &&
            (known.reachable || isAnswer(first.failure)),
          ...faultOf(first.failure),
        }

  const [tools, vision] = await Promise.all([
    ask(tried, { messages: [COLOUR_REQUEST], tools: [REPORT_COLOUR_TOOL] }),
    ask({ ...tried, vision: true }, { messages: [PICTURE_REQUEST] }),
  ])
  const wasCalled = tools.calls.some((call) => call.name === REPORT_COLOUR_TOOL.function.name)
  // Some providers refuse only what follows a call: its result, or the call without its signature.
  const after = wasCalled
    ? await ask(tried, { messages: withResults(tools), tools: [REPORT_COLOUR_TOOL] })
    : null
  const fault = after === null ? faultOfTools(tools.failure) : after.failure
  const nativeTools = wasCalled && fault === null
  const reasoning = [first, tools, vision].some((answer) => answer.thinking !== '')
  const row = findModelRow(tried) ?? guessModelRow(model)
  const window = row?.window ?? listed.windows.get(model)
  const sees = seesPicture(vision) ?? row?.can.includes('image') ?? false
  return {
    reachable: true,
    models,
    streaming: first.streamed,
    usage: first.usage,
    native_tools: nativeTools,
    reasoning,
    vision: sees,
    ...(fault === null ? { error: null } : faultOf(fault)),
    suggested: {
      api_url: target.api_url,
      ...(base.provider === undefined ? {} : { provider: base.provider }),
      ...(tried.api === undefined ? {} : { api: tried.api }),
      upstream_model: model,
      ...(fault === null ? { tool_mode: nativeTools ? 'native' : 'prompt' } : {}),
      ...(tried.stream_usage === false ? { stream_usage: false } : {}),
      ...(reasoning ? { thinking: true } : {}),
      vision: sees,
      ...(window === undefined ? {} : { context_window: window }),
      ...(row === undefined ? {} : priceOf(row)),
    },
  }
}

/** Undefined if the answer does not tell: there was none, or the model thought until its limit. */
function seesPicture({ failure, text }: ProbeAnswer): boolean | undefined {
  if (failure !== null) return isRefused(failure) ? false : undefined
  return text.trim() === '' ? undefined : /\bred\b|红/i.test(text)
}

/** The order in which APIs are tried if the address does not reveal which one the server has. */
const ANY_API: readonly ModelApi[] = ['chat', 'responses', 'messages']

type Ask = (settings: ModelSettings, request: Partial<LlmRequest>) => Promise<ProbeAnswer>

/** Greets the model through one API after another until it answers. Returns its answer and the settings that worked. */
async function findApi(
  settings: ModelSettings,
  apis: readonly ModelApi[],
  ask: Ask,
): Promise<{ first: ProbeAnswer; settings: ModelSettings }> {
  const greet = async (attempt: ModelSettings) => ({
    first: await ask(attempt, { messages: [GREETING] }),
    settings: attempt,
  })
  const greeted = await greet(settings)
  const failure = greeted.first.failure
  if (failure === null || !mayBeAnotherApi(failure)) return greeted
  const others: ModelSettings[] = apis.slice(1).map((api) => ({ ...settings, api }))
  // A provider that does not know `stream_options` rejects the whole request.
  if (failure.code === 'model_refused' && apis[0] === 'chat')
    others.unshift({ ...settings, stream_usage: false })
  for (const other of others) {
    const again = await greet(other)
    if (again.first.failure === null) return again
  }
  return greeted
}

/** Reads the list of models. Anthropic's API requires other headers for it. */
async function listWith(
  base: ModelSettings,
  apis: readonly ModelApi[],
  http: ProviderHttp,
  signal: AbortSignal,
) {
  const listed = await listModels(base, http, signal)
  if (listed.failure === null || !mayBeAnotherApi(listed.failure) || apis.length === 1)
    return listed
  const again = await listModels({ ...base, api: 'messages' }, http, signal)
  return again.failure === null ? again : listed
}

const mayBeAnotherApi = ({ code }: AppError): boolean =>
  code === 'model_not_found' ||
  code === 'model_bad_answer' ||
  code === 'model_refused' ||
  code === 'model_unauthorized'

/** The conversation after the model called the tool. */
const withResults = ({ text, thinking, calls, carry }: ProbeAnswer): LlmMessage[] => [
  COLOUR_REQUEST,
  {
    role: 'assistant',
    content: text,
    ...(thinking === '' ? {} : { reasoning: thinking }),
    toolCalls: calls,
    carry,
  },
  ...calls.map(
    ({ id, name }): LlmMessage => ({
      role: 'tool',
      callId: id,
      name,
      content: JSON.stringify({ success: true }),
    }),
  ),
]

const isRefused = ({ code }: AppError): boolean => code === 'model_refused'

/**
 * The reason why a request with a tool failed, unless the provider refused the tools. If it names another field, or could
 * not answer at all, the model may well support function calling, and prompt mode would hide the problem.
 */
function faultOfTools(failure: AppError | null): AppError | null {
  if (failure === null) return null
  const words = String(failure.params?.detail ?? '')
  // llama.cpp responds with 500 if it was started without support for tools.
  if (!isRefused(failure)) return /tool|function/i.test(words) ? null : failure
  const fields =
    words.match(/\b[a-z]+(?:_[a-z]+)+\b|\b(?:reasoning|temperature|thinking)\b/gi) ?? []
  return fields.some((field) => !/tool|function|_error$/i.test(field)) ? failure : null
}

const EMPTY_REPORT: ProbeReport = {
  reachable: false,
  models: [],
  streaming: false,
  usage: false,
  native_tools: false,
  reasoning: false,
  vision: false,
  error: null,
  suggested: {},
}

const faultOf = ({ message, code, reason, params }: AppError) => ({
  error: message,
  error_code: code,
  error_reason: reason,
  ...(params === undefined ? {} : { error_params: params }),
})

const canChat = (model: string): boolean =>
  !/embed|whisper|tts|dall-?e|moderation|rerank|image|audio|speech|bge|sora/i.test(model)

const isElsewhere = (failure: AppError): boolean =>
  failure.code === 'model_not_found' || failure.code === 'model_bad_answer'

/** Whether the provider responded, even with a refusal. */
const isAnswer = (failure: AppError): boolean =>
  failure.code !== 'model_unavailable' && failure.code !== 'model_timeout'

const GREETING = { role: 'user', content: 'Answer with the single word: pong' } as const

const COLOUR_REQUEST = {
  role: 'user',
  content: 'Call the tool report_colour with the colour blue. Do not answer in words.',
} as const

const REPORT_COLOUR_TOOL: ToolSchema = {
  type: 'function',
  function: {
    name: 'report_colour',
    description: 'Reports a colour.',
    parameters: {
      type: 'object',
      properties: { colour: { type: 'string', description: 'The colour.' } },
      required: ['colour'],
    },
  },
}

/** 64 × 64 pixels, all red. */
const RED_PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC'

const PICTURE_REQUEST = {
  role: 'user',
  content: 'Which colour is this picture? Answer with one English word.',
  images: [{ mime: 'image/png', data: RED_PICTURE }],
} as const
