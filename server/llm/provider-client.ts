// The client and the connection for a model, by the API that it speaks.
import type { ModelSettings } from '../protocol/catalog.ts'
import { connectAnthropic, createAnthropic } from './anthropic/client.ts'
import type { LlmClient } from './client.ts'
import { createOpenAiCompatible } from './openai/client.ts'
import { connectOpenAi, type OpenAiConnection } from './openai/connection.ts'
import type { ProviderHttp } from './openai/provider-http.ts'
import { apiOf } from './openai/provider-quirks.ts'
import type { StreamedClientOptions } from './openai/streamed-client.ts'

/** A client for one model. Makes one attempt: retries and fallbacks are wrappers around it. */
export const createProviderClient = (options: StreamedClientOptions): LlmClient =>
  apiOf(options.settings) === 'messages'
    ? createAnthropic(options)
    : createOpenAiCompatible(options)

/** For other requests to the same API. */
export const connectProvider = (settings: ModelSettings, http: ProviderHttp): OpenAiConnection =>
  apiOf(settings) === 'messages' ? connectAnthropic(settings, http) : connectOpenAi(settings, http)
