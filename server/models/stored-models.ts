// The models that administrators add: their keys and headers are stored sealed, and opened only to call them.
import { z } from 'zod'
import type { SecretBox } from '../auth/secret-box.ts'
import type { Writer } from '../db/database.ts'
import type { AuditRepository } from '../db/repositories/accounts/audit.ts'
import type { ModelRepository, StoredModel } from '../db/repositories/models.ts'
import { appError } from '../errors.ts'
import { oncePer } from '../lib/once-per.ts'
import type { CatalogModel } from '../llm/catalog.ts'
import { type EnvironmentKeys, withEnvironmentKey } from '../llm/environment-keys.ts'
import { type Actor, type AuditDetails, auditedFields } from '../protocol/admin/audit.ts'
import {
  type CreateModelBody,
  ModelSettings,
  type PatchModelBody,
} from '../protocol/models/catalog.ts'

/** Binds the sealed key of a model to its id, so that no other row can use it. */
export const modelKeyPurpose = (id: string): string => `model:${id}`

/** The key of a model, empty if there is none, and its own headers by name in lower case. */
interface ModelSecrets {
  apiKey: string
  headers: Readonly<Record<string, string>>
}

/** The secrets of a stored model; `unreadable` if the server's secret key has changed. */
export type StoredSecrets = ModelSecrets | 'unreadable'

/** A model without secrets. */
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

/** Seals the secrets of a model; null if it has none. */
function sealSecrets(id: string, { apiKey, headers }: ModelSecrets, box: SecretBox): string | null {
  const hasHeaders = Object.keys(headers).length > 0
  if (!hasHeaders && apiKey === '') return null
  const text = hasHeaders ? WITH_HEADERS + JSON.stringify({ apiKey, headers }) : apiKey
  return box.seal(text, modelKeyPurpose(id))
}

/** Changes of a model's own headers; null removes all. */
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

/** The stored models with unsealed keys, unsealed once per list from the repository. */
export function cachedModels(
  models: Pick<ModelRepository, 'list'>,
  box: SecretBox,
  keys: EnvironmentKeys,
): () => Promise<readonly CatalogModel[]> {
  const open = oncePer((list: readonly StoredModel[]) => openedModels(list, box, keys))
  return async () => open(await models.list())
}

/** Finds the address of a model's API; undefined for a model that no longer exists. @param stored the models that administrators added. */
export const createModelUrls =
  (configured: readonly ModelSettings[], stored: () => Promise<readonly CatalogModel[]>) =>
  async (id: string): Promise<string | undefined> =>
    configured.find((model) => model.id === id)?.api_url ??
    (await stored()).find(({ settings }) => settings.id === id)?.settings.api_url

/** For calling them only; never expose the keys. */
const openedModels = (
  list: readonly StoredModel[],
  box: SecretBox,
  keys: EnvironmentKeys,
): CatalogModel[] =>
  list.map((model) => {
    const secrets = secretsOf(model, box)
    if (secrets === 'unreadable') return { settings: model.settings, needsKey: true }
    const { apiKey, headers } = secrets
    return {
      settings: withEnvironmentKey(
        {
          ...model.settings,
          ...(apiKey === '' ? {} : { api_key: apiKey }),
          ...(Object.keys(headers).length === 0 ? {} : { headers }),
        },
        keys,
      ),
      needsKey: false,
    }
  })

/** What adding, changing and removing models need. */
interface ModelDependencies {
  store: { models: ModelRepository; audit: Pick<AuditRepository, 'record'> }
  /** The models of the configuration file, which are read-only. */
  configuredModels: readonly ModelSettings[]
  box: SecretBox
}

/** @throws AppError `model_id_taken`. */
export async function addModel(
  { store, configuredModels, box }: ModelDependencies,
  actor: Actor,
  { api_key: key, headers, ...given }: CreateModelBody,
): Promise<StoredModel> {
  const isConfigured = configuredModels.some(({ id }) => id === given.id)
  const secrets = { apiKey: key ?? '', headers: changedHeaders({}, headers) }
  const created = isConfigured
    ? null
    : await store.models.create(
        merge({}, given),
        sealSecrets(given.id, secrets, box),
        recordOf(store, actor, 'model_added', auditedFields(given, ['id', 'name', 'api_url'])),
      )
  if (created === null) throw appError('model_id_taken')
  return created
}

/**
 * Absent fields stay unchanged; null clears a field.
 * @throws AppError `model_unknown`, `model_configured`; `model_key_missing` if a stored key would be sent to another server.
 */
export async function changeModel(
  { store, configuredModels, box }: ModelDependencies,
  actor: Actor,
  id: string,
  { api_key: key, headers, ...given }: PatchModelBody,
): Promise<StoredModel> {
  const details = { id, ...auditedFields(given, ['name', 'api_url']) }
  const record = recordOf(store, actor, 'model_changed', details)
  const changed = await store.models.change(
    id,
    (before) => {
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
    },
    record,
  )
  return changed ?? refuseUnknown(configuredModels, id)
}

/** @throws AppError `model_unknown`, `model_configured`. */
export async function removeModel(
  { store, configuredModels }: Omit<ModelDependencies, 'box'>,
  actor: Actor,
  id: string,
): Promise<void> {
  const record = recordOf(store, actor, 'model_deleted', { id })
  if (!(await store.models.remove(id, record))) refuseUnknown(configuredModels, id)
}

/** The write of the audit entry, which is part of the change. */
const recordOf =
  (
    { audit }: ModelDependencies['store'],
    actor: Actor,
    action: 'model_added' | 'model_changed' | 'model_deleted',
    details: AuditDetails,
  ) =>
  (tx: Writer): Promise<void> =>
    audit.record(tx, actor, { action, at: new Date(), details })

function refuseUnknown(configured: ModelDependencies['configuredModels'], id: string): never {
  throw appError(
    configured.some((settings) => settings.id === id) ? 'model_configured' : 'model_unknown',
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
