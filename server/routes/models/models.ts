// Routes for models: the public list, and creating, updating and deleting them as an administrator.
import { z } from 'zod'
import type { Identity } from '../../auth/identity.ts'
import type { SecretBox } from '../../auth/secret-box.ts'
import type { ModelRepository, StoredModel } from '../../db/repositories/models.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { Deleted, envelope, withoutNul } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import {
  AdminModel,
  CreateModelBody,
  ModelSettings,
  PatchModelBody,
  PublicModel,
} from '../../protocol/models/catalog.ts'
import { deleted, success } from '../envelope.ts'

/** The dependencies of the routes for models. */
export interface ModelRouteDependencies {
  /** The models that a user may use or, with null, all models. The default is marked. */
  listModels(userId: UserId | null): Promise<PublicModel[]>
  /** Models from the configuration file: listed, but read-only. */
  configured: readonly ModelSettings[]
  models: ModelRepository
  box: SecretBox
}

const Params = z.object({ id: withoutNul(z.string().min(1).max(200)) })
const One = envelope(AdminModel)

/** Binds the sealed key of a model to its id, so that no other row can use it. */
export const modelKeyPurpose = (id: string): string => `model:${id}`

/** The key of a stored model: none, its text, or unreadable because the server's secret key has changed. */
export type StoredKey = { text: string } | 'none' | 'unreadable'

/** Unseals the key of a stored model. Never throws: one unreadable key must not affect the other models. */
export function keyOf({ settings, sealedApiKey }: StoredModel, box: SecretBox): StoredKey {
  if (sealedApiKey === null) return 'none'
  try {
    return { text: box.open(sealedApiKey, modelKeyPurpose(settings.id)) }
  } catch {
    // There is one cause: the key was sealed with a different secret key.
    return 'unreadable'
  }
}

/** `GET /api/models` and `/api/admin/models`. */
export function registerModelRoutes(app: App, dependencies: ModelRouteDependencies): void {
  registerList(app, dependencies)
  registerAdmin(app, dependencies)
}

/** The models that can be chosen. */
function registerList(app: App, { listModels }: ModelRouteDependencies): void {
  app.get(
    '/api/models',
    {
      config: { public: true, mayKnowUser: true },
      schema: {
        summary: 'List the available models',
        description: 'A signed-in user gets the models that their groups allow.',
        response: { 200: envelope(z.array(PublicModel)) },
      },
    },
    async (request) => {
      // Without a valid credential there is no user.
      const user: Identity | null = request.user
      return success(await listModels(user?.id ?? null))
    },
  )
}

/** The models that administrators add. */
function registerAdmin(app: App, { configured, models, box }: ModelRouteDependencies): void {
  const throwUnknown = (id: string): never => {
    if (configured.some((settings) => settings.id === id)) throw appError('model_configured')
    throw appError('model_unknown')
  }
  const present = (model: StoredModel): AdminModel => presentStored(model, keyOf(model, box))
  const seal = (id: string, key: string): string => box.seal(key, modelKeyPurpose(id))

  app.get(
    '/api/admin/models',
    {
      config: { admin: true },
      schema: {
        summary: 'List all models with their settings, without keys',
        response: { 200: envelope(z.object({ items: z.array(AdminModel) })) },
      },
    },
    async () =>
      success({
        items: [...configured.map(presentConfigured), ...(await models.list()).map(present)],
      }),
  )

  app.post(
    '/api/admin/models',
    {
      config: {
        admin: true,
        audit: { action: 'model_changed', fields: ['id', 'name', 'api_url'] },
      },
      schema: { summary: 'Add a model', body: CreateModelBody, response: { 200: One } },
    },
    async ({ body }) => {
      const { api_key: key, ...given } = body
      const isConfigured = configured.some(({ id }) => id === given.id)
      const created = isConfigured
        ? null
        : await models.create(merge({}, given), isGiven(key) ? seal(given.id, key) : null)
      if (created === null) throw appError('model_id_taken')
      return success(present(created))
    },
  )

  app.patch(
    '/api/admin/models/:id',
    {
      config: { admin: true, audit: { action: 'model_changed', fields: ['name', 'api_url'] } },
      schema: {
        summary: 'Update an added model; `null` clears a field',
        params: Params,
        body: PatchModelBody,
        response: { 200: One },
      },
    },
    async ({ params: { id }, body }) => {
      const { api_key: key, ...given } = body
      const changed = await models.change(id, (before) => {
        const settings = merge(before.settings, given)
        // Otherwise, an administrator could have a stored key sent to a server of their own.
        const isElsewhere =
          new URL(settings.api_url).origin !== new URL(before.settings.api_url).origin
        if (isElsewhere && before.sealedApiKey !== null && key === undefined)
          throw appError('model_key_missing')
        const sealed = isGiven(key) ? seal(id, key) : null
        return { settings, sealedApiKey: key === undefined ? before.sealedApiKey : sealed }
      })
      return success(present(changed ?? throwUnknown(id)))
    },
  )

  app.delete(
    '/api/admin/models/:id',
    {
      config: { admin: true, audit: { action: 'model_changed' } },
      schema: { summary: 'Delete an added model', params: Params, response: { 200: Deleted } },
    },
    async ({ params: { id } }) => {
      if (!(await models.remove(id))) throwUnknown(id)
      return deleted
    },
  )
}

const isGiven = (key: string | null | undefined): key is string =>
  typeof key === 'string' && key !== ''

/** The settings after an update, validated as a whole. */
function merge(before: object, given: object): Omit<ModelSettings, 'api_key'> {
  const entries = Object.entries({ ...before, ...withoutUndefined(given) })
  return ModelSettings.omit({ api_key: true }).parse(
    Object.fromEntries(entries.filter(([, value]) => value !== null)),
  )
}

const withoutUndefined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const presentConfigured = ({ api_key: key, ...settings }: ModelSettings): AdminModel => ({
  ...settings,
  has_api_key: isGiven(key),
  needs_key: false,
  source: 'config',
  created_at: null,
})

const presentStored = (
  { settings, sealedApiKey, createdAt }: StoredModel,
  key: StoredKey,
): AdminModel => ({
  ...settings,
  has_api_key: sealedApiKey !== null,
  needs_key: key === 'unreadable',
  source: 'store',
  created_at: createdAt.toISOString(),
})
