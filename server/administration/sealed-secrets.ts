// What is stored sealed: what each value was sealed for, and what no key of the installation opens.
import { mcpServerPurpose } from '../access/mcp-servers.ts'
import { idTokenPurpose } from '../auth/oidc/sign-in.ts'
import { IDEMPOTENCY_SEAL_PURPOSE } from '../auth/sealed-responses.ts'
import { totpPurpose } from '../auth/second-factor/second-factors.ts'
import { createSecretBox, openIfReadable } from '../auth/secret-box.ts'
import { readSecretKeys, type SecretKeySources } from '../auth/secret-keys.ts'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectSealed } from '../db/inspect.ts'
import type { SealedKind, SealedValue } from '../db/repositories/sealed.ts'
import { CHANNEL_SEAL_PURPOSE } from '../messaging/channels.ts'
import { PUSH_KEY_PURPOSE } from '../messaging/push.ts'
import { webhookSealPurpose } from '../messaging/webhooks.ts'
import { modelKeyPurpose } from '../models/stored-models.ts'
import { hookSealPurpose } from '../schedules/schedules.ts'
import { SHARE_SEAL_PURPOSE } from '../sharing/shares.ts'
import { mcpClientPurpose, mcpGrantPurpose } from '../tools/mcp/oauth/stored-grants.ts'

/** What a few stored values of each kind say about the secret key. */
export interface SecretsState {
  /** Values that were tried. */
  tried: number
  /** Names of the kinds with values that cannot be opened, for the operator. */
  unreadable: readonly string[]
}

const KIND_NAMES: Record<SealedKind, string> = {
  model: 'keys of models',
  channel: 'channels',
  share: 'share links',
  mcp_server: 'MCP servers',
  mcp_grant: 'sign-ins to MCP servers',
  mcp_client: 'registrations at MCP servers',
  totp: 'authenticator apps',
  id_token: 'sign-ins by single sign-on',
  idempotency_key: 'repeatable responses',
  webhook: 'webhooks',
  earlier_webhook: 'earlier secrets of webhooks',
  schedule_hook: 'hooks of schedules',
  setting: 'push notifications',
}

/** Tries to open some values of each kind. Changes nothing, and creates no key. */
export async function inspectSecrets(
  { database, dataFolder }: { database: DatabaseSettings; dataFolder: string },
  sources: SecretKeySources,
): Promise<SecretsState> {
  const values = await inspectSealed(database)
  const box = createSecretBox(readSecretKeys(sources, dataFolder) ?? [])
  const closed = values.filter(
    (value) => openIfReadable(box, value.sealed, purposeOf(value)) === null,
  )
  const unreadable = [...new Set(closed.map(({ kind }) => KIND_NAMES[kind]))]
  return { tried: values.length, unreadable }
}

/** Says in the log which stored secrets a server cannot open that is about to load its keys, and to create one if there is none. */
export async function reportUnreadableSecrets(
  places: { database: DatabaseSettings; dataFolder: string },
  sources: SecretKeySources,
  log: { error(details: object, message: string): void },
): Promise<void> {
  const hasKeys = readSecretKeys(sources, places.dataFolder) !== undefined
  const { unreadable: kinds } = await inspectSecrets(places, sources)
  if (kinds.length === 0) return
  const key = hasKeys
    ? 'this secret key'
    : 'the new secret key, which is created because there is none'
  log.error(
    { kinds, newKey: !hasKeys },
    `Stored secrets cannot be opened with ${key}: ${kinds.join(', ')}. ${RECOVER_KEY}`,
  )
}

/** What to do about unreadable secrets, for the operator. */
export const RECOVER_KEY =
  'Put the key of the backup into secret.key in data_dir (several keys may stand there, one a line, the newest first), or set NANOCLAW_SECRET_KEY to it. Until then, what they are for does not work; nothing is overwritten.'

/** The purpose that a value was sealed for, the same as where it is used. */
export function purposeOf({ kind, ids: [id, second = ''] }: SealedValue): string {
  switch (kind) {
    case 'model':
      return modelKeyPurpose(id)
    case 'channel':
      return CHANNEL_SEAL_PURPOSE
    case 'share':
      return SHARE_SEAL_PURPOSE
    case 'mcp_server':
      return mcpServerPurpose(id)
    case 'mcp_grant':
      return mcpGrantPurpose(id, second)
    case 'mcp_client':
      return mcpClientPurpose(id)
    case 'totp':
      return totpPurpose(id)
    case 'id_token':
      return idTokenPurpose(id)
    case 'idempotency_key':
      return IDEMPOTENCY_SEAL_PURPOSE
    case 'webhook':
    case 'earlier_webhook':
      return webhookSealPurpose(id)
    case 'schedule_hook':
      return hookSealPurpose(id)
    case 'setting':
      return PUSH_KEY_PURPOSE
  }
}
