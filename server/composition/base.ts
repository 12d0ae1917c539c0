// What every module is built on: the open store, this instance, the keys for secrets, and the access rules.
import type { FastifyBaseLogger } from 'fastify'
import type { Access } from '../access/access.ts'
import { type LoweredRisks, loadLoweredRisks } from '../access/lowered-risks.ts'
import { loadMcpServers, type McpServerCatalog } from '../access/mcp-servers.ts'
import type { ServerSettingsService } from '../access/server-settings.ts'
import { createSecretBox, type SecretBox } from '../auth/secret-box.ts'
import { loadSecretKeys, readSecretKeys, type SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { connect } from '../db/connect.ts'
import type { Database } from '../db/database.ts'
import { createStore, type Store } from '../db/store.ts'
import type { Limits } from '../lib/limits.ts'
import { type Redactor, storedSecrets } from '../lib/redact.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { StoreOwner } from '../owner/owner.ts'
import { loadRules } from './access-rules.ts'
import { type Instance, openInstance } from './instance.ts'
import { OPEN_REGISTRATION, openToInternet } from './open-registration.ts'
import { inspectSecrets, RECOVER_KEY } from './sealed-secrets.ts'
import { databaseSettings } from './settings.ts'
import { assertInstallation, assertMayCreate } from './storage/places.ts'

/** The common dependencies. Most factories receive all of them and take those that they need. */
export interface Base {
  config: Config
  log: FastifyBaseLogger
  redact: Redactor['redact']
  now(): Date
  database: Database
  store: Store
  instance: Instance
  /** The `claims` of `instance`, which most modules need. */
  claims: WorkClaims | undefined
  limits: Limits
  /** Seals secrets: values that it opens are redacted in the log. */
  box: SecretBox
  /** Seals values that the log need not redact. */
  bodyBox: SecretBox
  /** The operator's keys, where there are any. */
  secretKeys: SecretKeySources
  access: Access
  settings: ServerSettingsService
  mcpServers: McpServerCatalog
  loweredRisks: LoweredRisks
}

interface BaseOptions {
  config: Config
  log: FastifyBaseLogger
  redactor: Redactor
  secretKeys: SecretKeySources
}

/**
 * Connects to the store, migrates it, ensures that the files belong to it, and reads what all modules start from.
 * @throws AppError with a message for the operator.
 */
export async function openBase(
  { config, log, redactor, secretKeys }: BaseOptions,
  owner: StoreOwner,
): Promise<Base> {
  await assertMayCreate(config)
  const database = await connect(databaseSettings(config), { log })
  try {
    return await openOn(database, { config, log, redactor, secretKeys }, owner)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function openOn(
  database: Database,
  { config, log, redactor, secretKeys }: BaseOptions,
  owner: StoreOwner,
): Promise<Base> {
  // First, because everything else reads or changes the files.
  await assertInstallation(config, database, log)
  const store = createStore(database)
  const instance = await openInstance({ config, owner, store, log })
  const hadKeys = readSecretKeys(secretKeys, config.data_dir) !== undefined
  const secrets = await inspectSecrets(config, secretKeys)
  const keys = loadSecretKeys(secretKeys, config.data_dir)
  if (secrets.unreadable.length > 0)
    log.error(
      { kinds: secrets.unreadable, newKey: !hadKeys },
      `Stored secrets cannot be opened with ${hadKeys ? 'this secret key' : 'the new secret key, which was created because there was none'}: ${secrets.unreadable.join(', ')}. ${RECOVER_KEY}`,
    )
  const box = createSecretBox(keys, (secret) => redactor.add(storedSecrets(secret)))
  const { access, settings } = await loadRules(config, store)
  const openHost = openToInternet(config, settings.current().effective.registration)
  if (openHost !== null) log.warn({ host: openHost }, OPEN_REGISTRATION)
  const now = (): Date => new Date()
  return {
    config,
    log,
    redact: redactor.redact,
    now,
    database,
    store,
    instance,
    claims: instance.claims,
    limits: instance.limits,
    box,
    bodyBox: createSecretBox(keys),
    secretKeys,
    access,
    settings,
    mcpServers: await loadMcpServers(config.mcp_servers, store.mcpServers, box),
    loweredRisks: await loadLoweredRisks({ settings: store.settings, now, log }),
  }
}
