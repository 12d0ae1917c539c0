// What every module is built on: the open store, this instance, the keys for secrets, and the access rules.

import type { FastifyBaseLogger } from 'fastify'
import packageJson from '../../package.json' with { type: 'json' }
import { type Access, createAccess } from '../access/access.ts'
import { type LoweredRisks, loadLoweredRisks } from '../access/lowered-risks.ts'
import { loadMcpServers, type McpServerCatalog } from '../access/mcp-servers.ts'
import { warnOfOpenRegistration } from '../access/open-registration.ts'
import { loadServerSettings, type ServerSettingsService } from '../access/server-settings.ts'
import { reportUnreadableSecrets } from '../administration/sealed-secrets.ts'
import { createSecretBox, type SecretBox } from '../auth/secret-box.ts'
import { loadSecretKeys, type SecretKeySources } from '../auth/secret-keys.ts'
import { type Instance, openInstance } from '../cluster/instance.ts'
import type { Config } from '../config/schema.ts'
import {
  databaseSettings,
  defaultQuota,
  installationSettings,
  registrationReach,
  switchedOff,
} from '../config/settings.ts'
import { connect } from '../db/connect.ts'
import type { Database } from '../db/database.ts'
import { createStore, type Store } from '../db/store.ts'
import type { ProcessClock } from '../lib/clocks.ts'
import type { Limits } from '../lib/limits.ts'
import { type Redactor, storedSecrets } from '../lib/redact.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { EnvironmentKeys } from '../llm/environment-keys.ts'
import { rememberProgram } from '../owner/last-program.ts'
import type { StoreOwner } from '../owner/owner.ts'
import { assertInstallation, assertMayCreate } from '../owner/places.ts'

/** The common dependencies. Most factories receive all of them and take those that they need. */
export interface Base {
  config: Config
  log: FastifyBaseLogger
  redact: Redactor['redact']
  now(): Date
  /** The clock by which schedules are due. */
  clock: ProcessClock
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
  /** The providers' own keys in the environment. */
  environmentKeys: EnvironmentKeys
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
  environmentKeys: EnvironmentKeys
  clock: ProcessClock
}

/**
 * Connects to the store, migrates it, ensures that the files belong to it, and reads what all modules start from.
 * @throws AppError with a message for the operator.
 */
export async function openBase(options: BaseOptions, owner: StoreOwner): Promise<Base> {
  const { config, log } = options
  await assertMayCreate(installationSettings(config))
  const database = await connect(databaseSettings(config), { log })
  try {
    return await openOn(database, options, owner)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function openOn(
  database: Database,
  { config, log, redactor, secretKeys, environmentKeys, clock }: BaseOptions,
  owner: StoreOwner,
): Promise<Base> {
  // First, because everything else reads or changes the files.
  await assertInstallation(installationSettings(config), database, { owner, log })
  const store = createStore(database)
  await rememberProgram(packageJson.version, store.settings, log)
  const instance = await openInstance({ redisUrl: config.redis_url, owner, store, log })
  await reportUnreadableSecrets(installationSettings(config), secretKeys, log)
  const keys = loadSecretKeys(secretKeys, config.data_dir)
  const box = createSecretBox(keys, (secret) => redactor.add(storedSecrets(secret)))
  const { access, settings } = await loadRules(config, store)
  const { registration } = settings.current().effective
  warnOfOpenRegistration(registrationReach(config), registration, log)
  const { now } = clock
  return {
    config,
    log,
    redact: redactor.redact,
    now,
    clock,
    database,
    store,
    instance,
    claims: instance.claims,
    limits: instance.limits,
    box,
    bodyBox: createSecretBox(keys),
    secretKeys,
    environmentKeys,
    access,
    settings,
    mcpServers: await loadMcpServers(config.mcp_servers, store.mcpServers, box),
    loweredRisks: await loadLoweredRisks({ settings: store.settings, now, log }),
  }
}

/** Reads groups, quotas and server settings from the store. */
export async function loadRules(
  config: Config,
  store: Store,
): Promise<{ access: Access; settings: ServerSettingsService }> {
  const access = createAccess(store, defaultQuota(config), switchedOff(config))
  const { registration, sharing, default_model = null, approval } = config
  const configured = { registration, sharing, default_model, default_approval: approval.default }
  const [settings] = await Promise.all([loadServerSettings(store, configured), access.reload()])
  return { access, settings }
}
