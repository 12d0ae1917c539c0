// Puts the tools together from the configuration: what each may reach, and the registry that runs draw from.
import type { Config } from './config/schema.ts'
import type { Store } from './db/store.ts'
import { createAddressRules } from './net/addresses.ts'
import { createGuardedFetch, type GuardedFetch } from './net/guarded-fetch.ts'
import { createPageReader } from './net/page-reader.ts'
import { createBuiltinTools } from './tools/builtin/index.ts'
import type { ResultKeeper } from './tools/long-results.ts'
import { createToolRegistry, type ToolRegistry } from './tools/registry.ts'
import { createResultCache, type ResultCache } from './tools/result-cache.ts'

export interface Tools {
  registry: ToolRegistry
  cache: ResultCache
  results: ResultKeeper
  fetch: GuardedFetch
  close(): Promise<void>
}

/** Everything that the tools need is made here and handed to them; none reads the configuration. */
export function createTools(config: Config, store: Store): Tools {
  const results = resultKeeper(store)
  const fetch = createGuardedFetch({
    rules: createAddressRules({
      allowPrivate: config.network.allow_private,
      allowPorts: config.network.allow_ports,
    }),
  })
  const pages = createPageReader()
  const { web_search, weather } = config
  const builtin = createBuiltinTools({
    results,
    fetch,
    pages,
    webSearch: {
      provider: web_search.provider,
      providers: web_search.providers,
      apiKey: web_search.api_key,
      url: web_search.url,
      duckduckgoUrl: web_search.duckduckgo_url,
      braveUrl: web_search.brave_url,
    },
    weather: {
      provider: weather.provider,
      apiKey: weather.api_key,
      geocodingUrl: weather.geocoding_url,
      forecastUrl: weather.forecast_url,
      openweathermapUrl: weather.openweathermap_url,
    },
  })
  return {
    registry: createToolRegistry(builtin, {
      disabled: config.tools.disabled,
      risk: config.tools.risk,
    }),
    cache: createResultCache({ ttlSeconds: config.tools.cache_ttl }),
    results,
    fetch,
    async close() {
      await Promise.all([pages.close(), fetch.close()])
    },
  }
}

/** Long results live in the store, as long as their conversation. */
const resultKeeper = (store: Store): ResultKeeper => ({
  async keep({ conversationId, runId }, content) {
    if (conversationId === null) throw new Error('a long result belongs to a conversation')
    return await store.toolResults.keep({ conversationId, runId, content })
  },
  read: async ({ conversationId }, handle) =>
    conversationId === null ? undefined : await store.toolResults.find(conversationId, handle),
})
