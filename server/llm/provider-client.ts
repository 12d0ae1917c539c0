// The client and the connection for a model, by the API that it speaks.
import type { ModelApi, ModelSettings } from '../protocol/models/catalog.ts'
import { connectAnthropic, createAnthropic } from './anthropic/client.ts'
import type { LlmClient } from './client.ts'
import { createOpenAiCompatible } from './openai/client.ts'
import { connectOpenAi, type OpenAiConnection } from './openai/connection.ts'
import type { ProviderHttp } from './openai/provider-http.ts'
import { apiOf } from './openai/provider-quirks.ts'
import type { StreamedClientOptions } from './openai/streamed-client.ts'
import { createResponses } from './responses/client.ts'

/** A client for one model. Makes one attempt: retries and fallbacks are wrappers around it. */
export const createProviderClient = (options: StreamedClientOptions): LlmClient =>
  CREATORS[apiOf(options.settings)](options)

const CREATORS: Readonly<Record<ModelApi, (options: StreamedClientOptions) => LlmClient>> = {
  chat: createOpenAiCompatible,
  responses: createResponses,
  messages: createAnthropic,
}

/** For other requests to the same API. */
export const connectProvider = (settings: ModelSettings, http: ProviderHttp): OpenAiConnection =>
  apiOf(settings) === 'messages' ? connectAnthropic(settings, http) : connectOpenAi(settings, http)
