// The model catalog: the models that can be chosen, and the client behind each id.

import { setTimeout as sleep } from 'node:timers/promises'
import { type AppError, appError } from '../errors.ts'
import { oncePer } from '../lib/once-per.ts'
import type { ErrorCode } from '../protocol/error.ts'
import type { ModelSettings, Price, PublicModel } from '../protocol/models/catalog.ts'
import type { LlmClient, LlmEvent } from './client.ts'
import { createDemoClient, DEMO_MODEL_ID } from './demo/demo-client.ts'
import { withTableFacts } from './model-table.ts'
import { flattenToolMessages } from './prompt-tools/flatten-tool-messages.ts'
import { withPromptTools } from './prompt-tools/with-prompt-tools.ts'
import { noticingOutput } from './prose.ts'
import { createProviderClient } from './provider-client.ts'
import { formatSupportOf, providerOf } from './provider-quirks.ts'
import { serviceNameOf } from './services.ts'
import { createProviderHttp } from './streaming/provider-http.ts'
import { withAnswerFormat } from './with-answer-format.ts'

/** A model ready to be called. */
export interface ResolvedModel {
  model: PublicModel
  price: Price | null
  /** Ready to use: includes retries, fallbacks and the model's tool mode. */
  client: LlmClient
}

/** Whether a user may use the model with this id. */
export type ModelRule = (id: string) => boolean

/** The models that can be chosen, and the client behind each. */
export interface ModelCatalog {
  /**
   * The public properties of the models that a user may use; the default is marked. Contains only `demo` if there is no
   * other model.
   */
  list(permits?: ModelRule): Promise<PublicModel[]>
  /**
   * The model with this id, or the default model, with the fallbacks that the user may use.
   * @throws AppError `unknown_model`, `model_not_permitted`, `no_model_permitted`.
   */
  resolve(id?: string | null, permits?: ModelRule): Promise<ResolvedModel>
  /** Null for a model without a price, for one that has been removed, and while the stored models cannot be read. */
  priceOf(id: string): Promise<Price | null>
  /** Closes the connections to providers. */
  close(): Promise<void>
}

/** A model of the catalog. `needsKey`: its stored key can no longer be decrypted. */
export interface CatalogModel {
  settings: ModelSettings
  needsKey: boolean
}

/** The sources of models, and the options of their clients. */
export interface ModelCatalogOptions {
  /** Models from the configuration. They take precedence over stored models with the same id. */
  models: readonly ModelSettings[]
  defaultModel?: string | undefined
  /** With the default model that administrators set; null if none is set. Read on every call. */
  settings?: { current(): { default_model: string | null } } | undefined
  /**
   * Models that administrators added, with unsealed keys. Read on every call, so that changes apply immediately. The same
   * array means the same models.
   */
  stored?: (() => Promise<readonly CatalogModel[]>) | undefined
  /** Seconds without data after which a model call fails. */
  idleTimeout: number
  /** Called with the number of unreadable lines in a provider's stream. */
  onSkipped?: ((skipped: { model: string; lines: number }) => void) | undefined
  retry?: RetryOptions | undefined
  /** Milliseconds between the pieces of the demo's answer. */
  demoDelayMs?: number | undefined
}

/** Create one per process, because it shares the connections to providers. Call `close` at the end. */
export function createModelCatalog(options: ModelCatalogOptions): ModelCatalog {
  const http = createProviderHttp()
  const demo = createDemoClient(
    options.demoDelayMs === undefined ? {} : { delayMs: options.demoDelayMs },
  )
  const configured = options.models.map(withTableFacts)
  // Clients are reused while their settings are unchanged.
  const clients = new Map<string, { settings: string; client: LlmClient }>()
  const clientsOfModels = new WeakMap<CatalogModel, LlmClient>()

  /** Once per list: every run resolves its model several times. */
  const combine = oncePer((stored: readonly CatalogModel[]): ReadonlyMap<string, CatalogModel> => {
    const found = new Map(
      configured.map((settings) => [settings.id, { settings, needsKey: false }]),
    )
    for (const model of stored)
      if (!found.has(model.settings.id))
        found.set(model.settings.id, { ...model, settings: withTableFacts(model.settings) })
    for (const id of clients.keys()) if (!found.has(id)) clients.delete(id)
    return found
  })
  const modelsById = async () => combine((await options.stored?.()) ?? NONE)
  const defaultIdOf = (known: ReadonlyMap<string, CatalogModel>): string => {
    for (const id of [options.settings?.current().default_model, options.defaultModel])
      if (id != null && known.has(id)) return id
    const usable = [...known.values()].find(({ needsKey }) => !needsKey)
    return usable?.settings.id ?? known.keys().next().value ?? DEMO_MODEL_ID
  }
  const clientOf = (model: CatalogModel): LlmClient => {
    const found = clientsOfModels.get(model) ?? createClient(model)
    clientsOfModels.set(model, found)
    return found
  }
  const createClient = ({ settings, needsKey }: CatalogModel): LlmClient => {
    if (needsKey) return lostKeyClient(settings.name ?? settings.id)
    const fingerprint = JSON.stringify(settings)
    const known = clients.get(settings.id)
    if (known?.settings === fingerprint) return known.client
    const provider = createProviderClient({
      settings,
      http,
      idleTimeout: options.idleTimeout,
      onSkipped: options.onSkipped,
    })
    const plain = inToolMode(withRetry(provider, options.retry), settings)
    const inFormat = withAnswerFormat(plain, {
      model: settings.name ?? settings.id,
      support: formatSupportOf(settings),
    })
    const client: LlmClient = {
      stream: (request) =>
        request.format === undefined ? plain.stream(request) : inFormat(request, request.format),
    }
    clients.set(settings.id, { settings: fingerprint, client })
    return client
  }
  const candidate = (model: CatalogModel) => ({
    name: model.settings.name ?? model.settings.id,
    client: clientOf(model),
  })

  return {
    async list(permits = permitsAll) {
      const known = await modelsById()
      if (known.size === 0) return permits(DEMO_MODEL_ID) ? [DEMO_MODEL] : []
      const offered = permitted(known, permits)
      const defaultId = defaultIdOf(offered)
      return [...offered.values()].map((model) => present(model, defaultId))
    },
    async resolve(id, permits = permitsAll) {
      const known = await modelsById()
      const offered = permitted(known, permits)
      const defaultId = defaultIdOf(offered)
      const requested = id ?? defaultId
      if (known.size === 0 && requested === DEMO_MODEL_ID && permits(DEMO_MODEL_ID))
        return { model: DEMO_MODEL, price: null, client: demo }
      const found = offered.get(requested)
      if (found === undefined) {
        const names = known.size === 0 ? [DEMO_MODEL_ID].filter(permits) : [...offered.keys()]
        if (names.length === 0) throw appError('no_model_permitted')
        const isKnown = known.has(requested) || requested === DEMO_MODEL_ID
        throw appError(isKnown && !permits(requested) ? 'model_not_permitted' : 'unknown_model', {
          model: requested.slice(0, 200),
          available: names,
        })
      }
      const { settings } = found
      const others = (settings.fallback ?? [])
        .filter((other) => other !== settings.id)
        .flatMap((other) => offered.get(other) ?? [])
      return {
        model: present(found, defaultId),
        price: settings.price ?? null,
        client: withFallback(candidate(found), others.map(candidate)),
      }
    },
    priceOf: (id) =>
      modelsById().then(
        (known) => known.get(id)?.settings.price ?? null,
        () => null,
      ),
    close: () => http.close(),
  }
}

const NONE: readonly CatalogModel[] = []

const permitsAll: ModelRule = () => true

const permitted = (
  known: ReadonlyMap<string, CatalogModel>,
  permits: ModelRule,
): ReadonlyMap<string, CatalogModel> =>
  permits === permitsAll ? known : new Map([...known].filter(([id]) => permits(id)))

function inToolMode(client: LlmClient, settings: ModelSettings): LlmClient {
  if (settings.tool_mode === 'none') return withoutTools(client)
  if (settings.tool_mode === 'prompt')
    return withPromptTools(client, {
      results: settings.tool_results ?? 'user',
      model: settings.name ?? settings.id,
    })
  return client
}

/** For `tool_mode: none`: sends no tools, and renders tool calls in the history as plain text. */
const withoutTools = (client: LlmClient): LlmClient => ({
  stream({ toolChoice: _none, ...request }) {
    const messages = flattenToolMessages(request.messages, {
      writeCall: (call) => `(called ${call.name} with ${call.arguments})`,
      results: 'user',
    })
    return client.stream({ ...request, messages, tools: [] })
  },
})

/** Always fails with an error that says what to do, so that a fallback model can take over. */
const lostKeyClient = (name: string): LlmClient => ({
  async *stream() {
    yield { type: 'failed', error: appError('model_key_lost', { model: name }) }
  },
})

const present = ({ settings, needsKey }: CatalogModel, defaultId: string): PublicModel => ({
  id: settings.id,
  name: settings.name ?? settings.id,
  provider: providerOf(settings),
  service: serviceNameOf(settings),
  tool_mode: settings.tool_mode ?? 'native',
  thinking: settings.thinking ?? false,
  vision: settings.vision ?? false,
  pdf: settings.pdf ?? false,
  context_window: settings.context_window ?? null,
  max_tokens: settings.max_tokens ?? null,
  price: settings.price ?? null,
  default: settings.id === defaultId,
  demo: false,
  needs_key: needsKey,
})

const DEMO_MODEL: PublicModel = {
  id: DEMO_MODEL_ID,
  name: 'Demo (no language model)',
  provider: 'demo',
  service: null,
  tool_mode: 'native',
  thinking: true,
  vision: false,
  pdf: false,
  context_window: null,
  max_tokens: null,
  price: null,
  default: true,
  demo: true,
  needs_key: false,
}

/** A model to try. */
interface FallbackCandidate {
  /** The model's name for people. */
  name: string
  client: LlmClient
}

/** Tries the models in order. A failure after the first output is final, so that no output is repeated. */
function withFallback(first: FallbackCandidate, others: readonly FallbackCandidate[]): LlmClient {
  if (others.length === 0) return first.client
  const candidates = [first, ...others]
  return {
    async *stream(request) {
      for (const [index, candidate] of candidates.entries()) {
        const next = candidates[index + 1]
        let hasOutput = false
        let failed = false
        const prose = noticingOutput(request.prose, () => {
          hasOutput = true
        })
        for await (const event of candidate.client.stream({ ...request, prose })) {
          const canSwitch = !hasOutput && !request.signal.aborted
          if (canSwitch && next !== undefined && event.type === 'failed') {
            failed = true
            yield passedOn(index + 1, event.error, next.name)
            continue
          }
          hasOutput ||= event.type !== 'retrying'
          yield event
        }
        if (!failed) return
      }
    },
  }
}

const passedOn = (attempt: number, error: AppError, nextModel: string): LlmEvent => ({
  type: 'retrying',
  attempt,
  delayMs: 0,
  error,
  nextModel,
})

/** When and how often to repeat a failed call. */
interface RetryOptions {
  /** Milliseconds before each retry. The number of entries is the number of retries. */
  delaysMs?: readonly number[]
  /** The longest `Retry-After` to honor, in seconds. */
  maxRetryAfter?: number
}

const DELAYS_MS = [1000, 2000, 4000]
const MAX_RETRY_AFTER = 60

/** Failures that a retry may resolve: a 429, a provider error, a failed connection. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'model_rate_limited',
  'model_unavailable',
  'model_stream_broken',
])

/** Emits `retrying` after each failed attempt, then waits. The wait ends when the run is stopped. */
function withRetry(client: LlmClient, options: RetryOptions = {}): LlmClient {
  const allDelaysMs = options.delaysMs ?? DELAYS_MS
  const maxRetryAfter = options.maxRetryAfter ?? MAX_RETRY_AFTER
  return {
    async *stream(request) {
      const delaysMs = allDelaysMs.slice(0, request.retries)
      for (let attempt = 0; ; attempt += 1) {
        let hasOutput = false
        let failure: AppError | undefined
        const prose = noticingOutput(request.prose, () => {
          hasOutput = true
        })
        for await (const event of client.stream({ ...request, prose })) {
          const mayRetry = !hasOutput && delaysMs[attempt] !== undefined
          if (mayRetry && event.type === 'failed' && isRetryable(event.error)) {
            failure = event.error
            continue
          }
          hasOutput ||= event.type !== 'retrying'
          yield event
        }
        if (failure === undefined) return
        const delayMs =
          failure.retryAfter === undefined
            ? (delaysMs[attempt] ?? 0)
            : Math.min(failure.retryAfter, maxRetryAfter) * 1000
        if (request.signal.aborted) return yield { type: 'failed', error: failure }
        yield retrying(attempt + 1, delayMs, failure)
        if (!(await waited(delayMs, request.signal)))
          return yield { type: 'failed', error: failure }
      }
    },
  }
}

const isRetryable = (error: AppError): boolean => error.retryable && RETRYABLE.has(error.code)

const retrying = (attempt: number, delayMs: number, error: AppError): LlmEvent => ({
  type: 'retrying',
  attempt,
  delayMs,
  error,
})

/** False if the run was stopped while waiting. */
async function waited(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(milliseconds, undefined, { signal })
    return true
  } catch {
    return false
  }
}
