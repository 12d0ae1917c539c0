// The models of the configuration and the store, with their keys.
import type { Access } from '../access/access.ts'
import type { ServerSettingsService } from '../access/server-settings.ts'
import type { SecretBox } from '../auth/secret-box.ts'
import type { Config } from '../config/schema.ts'
import type { ModelRepository, StoredModel } from '../db/repositories/models.ts'
import { type CatalogModel, createModelCatalog, type ModelCatalog } from '../llm/catalog.ts'
import type { UserId } from '../protocol/ids.ts'
import type { PublicModel } from '../protocol/models/catalog.ts'
import { secretsOf } from '../routes/models/models.ts'

/** Creates the catalog. It reads the stored models again whenever they have changed. */
export const createConfiguredCatalog = ({
  config,
  settings,
  models,
  box,
  log,
}: {
  config: Config
  settings: Pick<ServerSettingsService, 'current'>
  models: Pick<ModelRepository, 'list'>
  box: SecretBox
  log: { warn(details: object, message: string): void }
}): ModelCatalog =>
  createModelCatalog({
    models: config.models,
    defaultModel: config.default_model,
    storedDefault: () => settings.current().default_model,
    stored: cachedModels(models, box),
    idleTimeout: config.stream.idle_timeout,
    onSkipped: (skipped) => log.warn(skipped, 'unreadable lines in the stream of a provider'),
  })

/** The stored models with unsealed keys, unsealed once per list from the repository. */
function cachedModels(
  models: Pick<ModelRepository, 'list'>,
  box: SecretBox,
): () => Promise<readonly CatalogModel[]> {
  let newest: { list: readonly StoredModel[]; opened: readonly CatalogModel[] } | null = null
  return async () => {
    const list = await models.list()
    if (newest?.list !== list) newest = { list, opened: openedModels(list, box) }
    return newest.opened
  }
}

/** The stored models with unsealed keys. For calling them only; never expose the keys. */
export async function storedModels(
  models: Pick<ModelRepository, 'list'>,
  box: SecretBox,
): Promise<CatalogModel[]> {
  return openedModels(await models.list(), box)
}

const openedModels = (list: readonly StoredModel[], box: SecretBox): CatalogModel[] =>
  list.map((model) => {
    const secrets = secretsOf(model, box)
    if (secrets === 'unreadable') return { settings: model.settings, needsKey: true }
    const { apiKey, headers } = secrets
    return {
      settings: {
        ...model.settings,
        ...(apiKey === '' ? {} : { api_key: apiKey }),
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
      },
      needsKey: false,
    }
  })

/** Whether conversations can use a model. */
export const createModelCheck =
  (catalog: ModelCatalog) =>
  async (id: string): Promise<boolean> =>
    (await catalog.list()).some((model) => model.id === id)

/** The models that a user may use; null: nobody is signed in. */
export const usersModels = ({
  catalog,
  access,
  settings,
}: {
  catalog: ModelCatalog
  access: Pick<Access, 'models'>
  settings: Pick<ServerSettingsService, 'current'>
}) => ({
  /** @throws AppError when there is no such model for the user. */
  async assertModel(userId: UserId, id: string): Promise<void> {
    await catalog.resolve(id, access.models(userId))
  },
  /** In the administrators' order, without hidden ones. */
  async listModels(userId: UserId | null): Promise<PublicModel[]> {
    const { model_order: order, hidden_models: hidden } = settings.current()
    const placeOf = ({ id }: PublicModel): number => {
      const at = order.indexOf(id)
      return at === -1 ? order.length : at
    }
    return (await catalog.list(access.models(userId)))
      .filter(({ id }) => !hidden.includes(id))
      .toSorted((one, other) => placeOf(one) - placeOf(other))
  },
})
