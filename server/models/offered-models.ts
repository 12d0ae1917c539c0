// The models that are offered: to a user, in the administrators' order, without hidden ones.
import type { Access } from '../access/access.ts'
import type { ServerSettingsService } from '../access/server-settings.ts'
import type { ModelCatalog } from '../llm/catalog.ts'
import type { UserId } from '../protocol/ids.ts'
import type { PublicModel } from '../protocol/models/catalog.ts'

/** The models of the catalog, as groups and administrators permit them. */
export interface OfferedModels {
  /** Whether conversations can use a model, whoever has them. */
  exists(id: string): Promise<boolean>
  /** Whether the user may use it, and it exists. */
  isOffered(userId: UserId, id: string): Promise<boolean>
  /** @throws AppError when there is no such model for the user; null: for anybody. */
  assertOffered(userId: UserId | null, id: string): Promise<void>
  /** The models that a user may use, or with null all; in the administrators' order, without hidden ones. */
  list(userId: UserId | null): Promise<PublicModel[]>
  /** Whether conversations with this model (null: the default model) start with thinking enabled. */
  thinksByDefault(userId: UserId, id: string | null): Promise<boolean>
}

/** Reads the rules again for each request. */
export function createOfferedModels({
  catalog,
  access,
  settings,
}: {
  catalog: ModelCatalog
  access: Pick<Access, 'models'>
  settings: Pick<ServerSettingsService, 'current'>
}): OfferedModels {
  const exists = async (id: string): Promise<boolean> =>
    (await catalog.list()).some((model) => model.id === id)
  return {
    exists,
    isOffered: async (userId, id) => access.models(userId)(id) && (await exists(id)),
    async assertOffered(userId, id) {
      await catalog.resolve(id, userId === null ? undefined : access.models(userId))
    },
    async list(userId) {
      const { model_order: order, hidden_models: hidden } = settings.current()
      const placeOf = ({ id }: PublicModel): number => {
        const at = order.indexOf(id)
        return at === -1 ? order.length : at
      }
      return (await catalog.list(access.models(userId)))
        .filter(({ id }) => !hidden.includes(id))
        .toSorted((one, other) => placeOf(one) - placeOf(other))
    },
    async thinksByDefault(userId, id) {
      const { model } = await catalog.resolve(id, access.models(userId))
      return !model.demo && model.thinking !== false
    },
  }
}
