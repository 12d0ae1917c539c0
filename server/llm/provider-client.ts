// Creates the client and the connection for a model, by its API.
import type { ModelApi, ModelSettings } from '../protocol/models/catalog.ts'
import { connectAnthropic, createAnthropic } from './anthropic.ts'
import type { LlmClient } from './client.ts'
import { createOpenAiCompatible } from './openai.ts'
import { apiOf } from './provider-quirks.ts'
import { createResponses } from './responses.ts'
import {
  connectOpenAi,
  type OpenAiConnection,
  type ProviderHttp,
} from './streaming/provider-http.ts'
import type { StreamedClientOptions } from './streaming/streamed-client.ts'

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export const createProviderClient = (options: StreamedClientOptions): LlmClient =>
  CREATORS[apiOf(options.settings)](options)

const CREATORS: Readonly<Record<ModelApi, (options: StreamedClientOptions) => LlmClient>> = {
  chat: createOpenAiCompatible,
  responses: createResponses,
  messages: createAnthropic,
}

/** Creates a connection for other requests to the same API. */
export const connectProvider = (settings: ModelSettings, http: ProviderHttp): OpenAiConnection =>
  apiOf(settings) === 'messages' ? connectAnthropic(settings, http) : connectOpenAi(settings, http)
