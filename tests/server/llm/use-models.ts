// Models of scripted providers, and helpers that create catalogs and send requests.
import type { createModelCatalog, ModelCatalog } from '../../../server/llm/catalog.ts'
import type { ModelSettings } from '../../../server/protocol/models/catalog.ts'
import { type ReadResponse, readResponse } from '../../support/provider/llm.ts'
import { useCatalogs } from '../../support/provider/model-catalogs.ts'
import type { Upstream } from '../../support/provider/upstream.ts'
import { useFreshUpstream } from '../../support/provider/use-upstream.ts'

type CatalogOptions = Parameters<typeof createModelCatalog>[0]

/** The delays before each retry, in milliseconds. */
export const FAST = { delaysMs: [1, 2, 4] }

export interface TestModels {
  upstream: Upstream
  /** A model of the provider, with the key `key-<id>`. */
  model(id: string, more?: Partial<ModelSettings>): ModelSettings
  catalogOf(models: ModelSettings[], more?: Partial<CatalogOptions>): ModelCatalog
  /** Sends one request to the default model. */
  ask(models: ModelSettings[], more?: Partial<CatalogOptions>): Promise<ReadResponse>
}

/** A new provider for each test, and catalogs that are closed at the end. */
export function useModels(): TestModels {
  const upstream = useFreshUpstream()
  const createCatalog = useCatalogs()
  const catalogOf: TestModels['catalogOf'] = (models, more = {}) =>
    createCatalog({ models, retry: FAST, ...more })
  return {
    upstream,
    model: (id, more = {}) => ({ id, api_url: upstream.url, api_key: `key-${id}`, ...more }),
    catalogOf,
    ask: async (models, more) => readResponse((await catalogOf(models, more).resolve()).client),
  }
}
