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

/** The key of a model, empty if there is none, and its own headers by name in lower case. */
interface ModelSecrets {
  apiKey: string
  headers: Readonly<Record<string, string>>
}
/** The secrets of a stored model; `unreadable` if the server's secret key has changed. */
export type StoredSecrets = ModelSecrets | 'unreadable'

const NO_SECRETS: ModelSecrets = { apiKey: '', headers: {} }
/** Precedes a key with headers, as JSON. A key alone is stored as it is. */
const WITH_HEADERS = 'key and headers: '
const Secrets = z.object({ apiKey: z.string(), headers: z.record(z.string(), z.string()) })

/** Unseals the secrets of a stored model. Never throws: one unreadable key must not affect the other models. */
export function secretsOf({ settings, sealedApiKey }: StoredModel, box: SecretBox): StoredSecrets {
  if (sealedApiKey === null) return NO_SECRETS
  try {
    const text = box.open(sealedApiKey, modelKeyPurpose(settings.id))
    return text.startsWith(WITH_HEADERS)
      ? Secrets.parse(JSON.parse(text.slice(WITH_HEADERS.length)))
      : { apiKey: text, headers: {} }
  } catch {
    // There is one cause: the key was sealed with a different secret key.
    return 'unreadable'
  }
}

function sealSecrets(id: string, { apiKey, headers }: ModelSecrets, box: SecretBox): string | null {
  const hasHeaders = Object.keys(headers).length > 0
  if (!hasHeaders && apiKey === '') return null
  const text = hasHeaders ? WITH_HEADERS + JSON.stringify({ apiKey, headers }) : apiKey
  return box.seal(text, modelKeyPurpose(id))
}

type HeaderChanges = CreateModelBody['headers']

/** The headers after a change, by name in lower case. */
function changedHeaders(
  before: ModelSecrets['headers'],
  changes: HeaderChanges,
): ModelSecrets['headers'] {
  if (changes === undefined) return before
  const given = Object.entries(changes ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  )
  const all = new Map([...Object.entries(changes === null ? {} : before), ...given])
  return Object.fromEntries([...all].flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/** Whether a change leaves a secret as it was: then the model must stay at its server, which knows the secret. */
const keepsSecrets = (
  { apiKey, headers }: ModelSecrets,
  key: string | null | undefined,
  changes: HeaderChanges,
): boolean => {
  const given = new Set(Object.keys(changes ?? {}).map((name) => name.toLowerCase()))
  const keepsHeader = changes !== null && Object.keys(headers).some((name) => !given.has(name))
  return (apiKey !== '' && key === undefined) || keepsHeader
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
        items: [...configured.map(presentConfigured), ...(await models.list()).map(present)],
      }),
  )

  app.post(
    '/api/admin/models',
    {
      config: {
        admin: true,
        audit: { action: 'model_added', fields: ['id', 'name', 'api_url'] },
      },
      schema: { summary: 'Add a model', body: CreateModelBody, response: { 200: One } },
    },
    async ({ body }) => {
      const { api_key: key, headers, ...given } = body
      const isConfigured = configured.some(({ id }) => id === given.id)
      const secrets = { apiKey: key ?? '', headers: changedHeaders({}, headers) }
      const created = isConfigured
        ? null
        : await models.create(merge({}, given), sealSecrets(given.id, secrets, box))
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
      const { api_key: key, headers, ...given } = body
      const changed = await models.change(id, (before) => {
        const settings = merge(before.settings, given)
        const known = secretsOf(before, box)
        // Otherwise, an administrator could have a stored key sent to a server of their own.
        const isElsewhere =
          new URL(settings.api_url).origin !== new URL(before.settings.api_url).origin
        const keeps = known === 'unreadable' ? key === undefined : keepsSecrets(known, key, headers)
        if (isElsewhere && keeps) throw appError('model_key_missing')
        if (key === undefined && headers === undefined)
          return { settings, sealedApiKey: before.sealedApiKey }
        // Headers alone would replace the sealed key, which the right secret key would still open.
        if (known === 'unreadable' && key === undefined) throw appError('model_key_missing')
        const secrets = known === 'unreadable' ? NO_SECRETS : known
        const next = {
          apiKey: key === undefined ? secrets.apiKey : (key ?? ''),
          headers: changedHeaders(secrets.headers, headers),
        }
        return { settings, sealedApiKey: sealSecrets(id, next, box) }
      })
      return success(present(changed ?? throwUnknown(id)))
    },
  )

  app.delete(
    '/api/admin/models/:id',
    {
      config: { admin: true, audit: { action: 'model_deleted' } },
      schema: { summary: 'Delete an added model', params: Params, response: { 200: Deleted } },
    },
    async ({ params: { id } }) => {
      if (!(await models.remove(id))) throwUnknown(id)
      return deleted
    },
  )
}

/** The settings after an update, validated as a whole. */
function merge(before: object, given: object): StoredModel['settings'] {
  const entries = Object.entries({ ...before, ...withoutUndefined(given) })
  return ModelSettings.omit({ api_key: true, headers: true }).parse(
    Object.fromEntries(entries.filter(([, value]) => value !== null)),
  )
}

const withoutUndefined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

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
