// Single requests to a provider that is being probed, and what their responses reveal.
import { z } from 'zod'
import type { AppError } from '../../errors.ts'
import { readableOf } from '../../lib/loose-list.ts'
import { TokenCount } from '../../protocol/bounds.ts'
import type { ModelSettings } from '../../protocol/models/catalog.ts'
import type { Carry } from '../carry.ts'
import type { LlmRequest, ToolCall } from '../client.ts'
import {
  abortedFailure,
  connectionFailure,
  type FailureContext,
  isAnswerless,
  statusFailure,
} from '../failure.ts'
import { gatherProse } from '../prose.ts'
import { connectProvider, createProviderClient } from '../provider-client.ts'
import { type ProviderHttp, refusal, watchSilence } from '../streaming/provider-http.ts'

/** A model's response to a request of the probe. */
export interface ProbeAnswer {
  /** Null if the answer was complete. */
  failure: AppError | null
  text: string
  thinking: string
  calls: ToolCall[]
  carry: Carry | undefined
  /** Whether the provider itself reported usage. */
  usage: boolean
  /** Whether the response was a stream. */
  streamed: boolean
}

/** Sends one request with the client that would later serve the model. Never throws. */
export async function exchange(
  settings: ModelSettings,
  request: Omit<LlmRequest, 'prose'>,
  options: { http: ProviderHttp; idleSeconds: number },
): Promise<ProbeAnswer> {
  const answer: ProbeAnswer = {
    failure: null,
    text: '',
    thinking: '',
    calls: [],
    carry: undefined,
    usage: false,
    streamed: false,
  }
  const client = createProviderClient({
    settings,
    http: noticingStreams(options.http, () => {
      answer.streamed = true
    }),
    idleTimeout: options.idleSeconds,
  })
  const prose = gatherProse()
  for await (const event of client.stream({ ...request, prose })) {
    if (event.type === 'tool_call') answer.calls.push(event.call)
    if (event.type === 'finished') {
      answer.usage = !event.estimated
      answer.carry = event.carry
    }
    if (event.type === 'failed') {
      // A model that only thought until the small limit of the probe has answered.
      answer.failure = isAnswerless(event.error) ? null : event.error
      answer.usage = event.usage !== undefined
    }
  }
  return { ...answer, text: prose.text, thinking: prose.thinking }
}

/** Wraps `http` to call `onStream` when a response is an event stream. */
const noticingStreams = (http: ProviderHttp, onStream: () => void): ProviderHttp => ({
  ...http,
  async request(request) {
    const response = await http.request(request)
    if ((response.headers.get('content-type') ?? '').includes('event-stream')) onStream()
    return response
  },
})

const Tokens = TokenCount.optional().catch(undefined)

/**
 * The ids of models, and how servers report their context windows. Ollama and OpenAI report none. The `meta.n_ctx_train` of
 * llama.cpp is the window that the model was trained with, which is usually larger than the one the server was started
 * with.
 */
const ListedModel = z.object({
  id: z.string().min(1).max(300),
  /** vLLM: `ModelCard` in vllm/entrypoints/openai/protocol.py. */
  max_model_len: Tokens,
  /** OpenRouter: `Model` and `TopProviderInfo` in https://openrouter.ai/docs/client-sdks/typescript/models. */
  context_length: Tokens,
  /** The window at the provider that OpenRouter prefers, which may be smaller than the model's. */
  top_provider: z.object({ context_length: Tokens }).optional().catch(undefined),
})
type ListedModel = z.infer<typeof ListedModel>
const ModelList = z.object({ data: z.array(z.unknown()) })

/** Undefined if the server does not report it. */
const windowOf = (listed: ListedModel): number | undefined =>
  listed.max_model_len ?? listed.top_provider?.context_length ?? listed.context_length

/** The models that a provider lists. */
export interface ListedModels {
  /** Ids of the models. */
  models: string[]
  /** Context window in tokens of each model for which the provider reports it. */
  windows: ReadonlyMap<string, number>
  failure: AppError | null
}

const noModels = (failure: AppError): ListedModels => ({
  models: [],
  windows: new Map(),
  failure,
})

const LIST_SECONDS = 15
const MAX_LIST_BYTES = 4 * 1024 * 1024
const MAX_MODELS = 500

/** Reads the provider's list of models. Never throws. Many providers have no list, which is not an error. */
export async function listModels(
  settings: ModelSettings,
  http: ProviderHttp,
  signal: AbortSignal,
): Promise<ListedModels> {
  const context: FailureContext = {
    model: settings.id,
    apiKey: settings.api_key,
    secrets: Object.values(settings.headers ?? {}),
  }
  const watch = watchSilence(signal, LIST_SECONDS * 1000)
  try {
    const response = await connectProvider(settings, http).get('/models', watch.signal)
    if (!response.ok) return noModels(refusal(response, context))
    const source = response.body
    const parts: Buffer[] = []
    let size = 0
    for (let read = await source.read(); read; read = await source.read()) {
      parts.push(...read)
      size += read.reduce((sum, part) => sum + part.length, 0)
      if (size > MAX_LIST_BYTES) {
        source.abort(new Error('too long'))
        break
      }
    }
    const parsed = ModelList.safeParse(parseJson(Buffer.concat(parts).toString('utf8')))
    if (!parsed.success) return noModels(statusFailure({ status: 404, body: '' }, context))
    const listed = readableOf(ListedModel, parsed.data.data.slice(0, MAX_MODELS))
    const windows = listed.flatMap((model) => {
      const window = windowOf(model)
      return window === undefined ? [] : [[model.id, window] as const]
    })
    return { models: listed.map(({ id }) => id), windows: new Map(windows), failure: null }
  } catch (error) {
    return noModels(signal.aborted ? abortedFailure(context) : connectionFailure(error, context))
  } finally {
    watch.close()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
