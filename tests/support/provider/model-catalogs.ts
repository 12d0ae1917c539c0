// Model catalogs for tests, closed after the last test of the file.
import { afterAll } from 'vitest'
import { createModelCatalog, type ModelCatalog } from '../../../server/llm/catalog.ts'

type CatalogOptions = Parameters<typeof createModelCatalog>[0]

/** Creates catalogs that retry after 1 ms, and closes them after the last test of the file or `describe`. */
export function useCatalogs(): (
  options: Partial<CatalogOptions> & Pick<CatalogOptions, 'models'>,
) => ModelCatalog {
  const catalogs: ModelCatalog[] = []
  afterAll(() => Promise.all(catalogs.map((catalog) => catalog.close())))
  return (options) => {
    const catalog = createModelCatalog({ idleTimeout: 30, retry: { delaysMs: [1] }, ...options })
    catalogs.push(catalog)
    return catalog
  }
}
