// Setup that the tests of several provider clients share.
import { afterAll } from 'vitest'
import type { ToolSchema } from '../../../server/llm/client.ts'
import {
  createProviderHttp,
  type ProviderHttp,
} from '../../../server/llm/streaming/provider-http.ts'
import type { ModelSettings } from '../../../server/protocol/models/catalog.ts'
import { useFreshUpstream } from '../../support/provider/use-upstream.ts'

interface ClientOptions {
  settings: ModelSettings
  http: ProviderHttp
  idleTimeout: number
}

/** A scripted provider for each test of the file, and clients of one API for it. */
export function useProviderClients<Client>(
  create: (options: ClientOptions) => Client,
  defaults: Pick<ModelSettings, 'id' | 'api_key'>,
) {
  const upstream = useFreshUpstream()
  const http = createProviderHttp()
  afterAll(() => http.close())
  return {
    upstream,
    clientFor: (more: Partial<ModelSettings> = {}): Client =>
      create({
        settings: { api_url: upstream.url, ...defaults, ...more },
        http,
        idleTimeout: 30,
      }),
  }
}

/** A tool without parameters. */
export const look: ToolSchema = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
}
