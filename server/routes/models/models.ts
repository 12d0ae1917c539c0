// Routes for models: the public list, and creating, updating and deleting them as an administrator.

import { z } from 'zod'
import type { Identity } from '../../auth/identity.ts'
import type { StoredModel } from '../../db/repositories/models.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import {
  addModel,
  changeModel,
  removeModel,
  type StoredSecrets,
  secretsOf,
} from '../../models/stored-models.ts'
import { Deleted, envelope, withoutNul } from '../../protocol/envelope.ts'
import {
  AdminModel,
  CreateModelBody,
  type ModelSettings,
  PatchModelBody,
  PublicModel,
} from '../../protocol/models/catalog.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'

const Params = z.object({ id: withoutNul(z.string().min(1).max(200)) })
const One = envelope(AdminModel)

/** `GET /api/models` and `/api/admin/models`. */
export function registerModelRoutes(
  app: App,
  services: Pick<Services, 'offeredModels' | 'configuredModels' | 'store' | 'box'>,
): void {
  registerList(app, services)
  registerAdmin(app, services)
}

/** The models that can be chosen. */
function registerList(app: App, { offeredModels }: Pick<Services, 'offeredModels'>): void {
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
      return success(await offeredModels.list(user?.id ?? null))
    },
  )
}

/** The models that administrators add. */
function registerAdmin(
  app: App,
  services: Pick<Services, 'configuredModels' | 'store' | 'box'>,
): void {
  const { configuredModels: configured, store, box } = services
  const present = (model: StoredModel): AdminModel => presentStored(model, secretsOf(model, box))

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
        items: [...configured.map(presentConfigured), ...(await store.models.list()).map(present)],
      }),
  )

  app.post(
    '/api/admin/models',
    {
      config: { admin: true },
      schema: { summary: 'Add a model', body: CreateModelBody, response: { 200: One } },
    },
    async (request) => success(present(await addModel(services, actorOf(request), request.body))),
  )

  app.patch(
    '/api/admin/models/:id',
    {
      config: { admin: true },
      schema: {
        summary: 'Update an added model; `null` clears a field',
        params: Params,
        body: PatchModelBody,
        response: { 200: One },
      },
    },
    async (request) => {
      const { params, body } = request
      return success(present(await changeModel(services, actorOf(request), params.id, body)))
    },
  )

  app.delete(
    '/api/admin/models/:id',
    {
      config: { admin: true },
      schema: { summary: 'Delete an added model', params: Params, response: { 200: Deleted } },
    },
    async (request) => {
      await removeModel(services, actorOf(request), request.params.id)
      return deleted
    },
  )
}

const presentConfigured = ({ api_key: key, headers, ...settings }: ModelSettings): AdminModel => ({
  ...settings,
  has_api_key: key !== undefined && key !== '',
  header_names: Object.keys(headers ?? {}),
  needs_key: false,
  source: 'config',
  created_at: null,
})

const presentStored = (
  { settings, createdAt }: StoredModel,
  secrets: StoredSecrets,
): AdminModel => ({
  ...settings,
  has_api_key: secrets === 'unreadable' || secrets.apiKey !== '',
  header_names: secrets === 'unreadable' ? [] : Object.keys(secrets.headers),
  needs_key: secrets === 'unreadable',
  source: 'store',
  created_at: createdAt.toISOString(),
})
