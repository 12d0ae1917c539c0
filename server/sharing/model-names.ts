// The names of models in exported files, which people read.
import type { PublicModel } from '../protocol/models/catalog.ts'

/** The name of a model by its id; the id itself of one that no longer exists; null if an answer has none. */
export type ModelName = (id: string | null) => string | null

/** Where the models of the server are listed. */
export interface ListedModels {
  list(): Promise<readonly Pick<PublicModel, 'id' | 'name'>[]>
}

export async function modelNames(models: ListedModels): Promise<ModelName> {
  const names = new Map((await models.list()).map(({ id, name }) => [id, name]))
  return (id) => (id === null ? null : (names.get(id) ?? id))
}
