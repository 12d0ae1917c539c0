// A client for OpenAI-compatible providers, with a new scripted provider for each test, and the chunks that it sends.
import { afterAll } from 'vitest'
import type { LlmClient } from '../../../../server/llm/client.ts'
import { createOpenAiCompatible } from '../../../../server/llm/openai.ts'
import {
  createProviderHttp,
  type ProviderHttp,
} from '../../../../server/llm/streaming/provider-http.ts'
import type { ModelSettings } from '../../../../server/protocol/models/catalog.ts'
import type { Upstream } from '../../../support/provider/upstream.ts'
import { chunk } from '../../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../../support/provider/use-upstream.ts'

export const KEY = 'sk-very-secret-key'

export const textChunk = (content: string) => chunk({ content })
export const toolCallChunk = (...pieces: unknown[]) => chunk({ tool_calls: pieces })
export const stop = chunk({}, 'stop')

export interface TestClient {
  upstream: Upstream
  /** The connection pool that all clients share. */
  http: ProviderHttp
  /** The number of unreadable lines of each response that has any. */
  skipped: number[]
  /** A client for the model `m` of the provider. */
  clientFor(settings?: Partial<ModelSettings>): LlmClient
}

export function useClient(): TestClient {
  const http = createProviderHttp()
  afterAll(() => http.close())
  const upstream = useFreshUpstream()
  const skipped: number[] = []
  return {
    upstream,
    http,
    skipped,
    clientFor: (settings = {}) =>
      createOpenAiCompatible({
        settings: { id: 'm', name: 'Model M', api_url: upstream.url, api_key: KEY, ...settings },
        http,
        idleTimeout: 30,
        onSkipped: ({ lines }) => skipped.push(lines),
      }),
  }
}
