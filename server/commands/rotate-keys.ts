// `nanoclaw admin rotate-keys`: new keys for tokens and for stored secrets, without signing anybody out. It can be repeated.

import { purposeOf } from '../administration/sealed-secrets.ts'
import { createSecretBox, openIfReadable, type SecretBox } from '../auth/secret-box.ts'
import {
  dropEarlierSecretKeys,
  loadSecretKeys,
  rotateSecretKey,
  type SecretKeySources,
} from '../auth/secret-keys.ts'
import { rotateTokenKeys } from '../auth/token-keys.ts'
import type { Config } from '../config/schema.ts'
import type { SealedRepository, SealedValue } from '../db/repositories/sealed.ts'
import { createStore } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { whileServerIsStopped } from './stopped-server.ts'

/** Values that are sealed again in one transaction. */
const BATCH = 200

/**
 * @param options.signOut invalidates all earlier tokens, for keys that somebody else may have.
 * @returns the lines to print.
 */
export async function rotateKeys(
  config: Config,
  { keys, signOut }: { keys: SecretKeySources; signOut: boolean },
): Promise<string[]> {
  return whileServerIsStopped(config, 'rotate-keys', async (database) => {
    const store = createStore(database)
    const lines = await rotateSecrets(config, store.sealed, keys)
    if (config.auth_mode === 'multi') {
      const accepted = rotateTokenKeys(config.data_dir, config.jwt_secret ?? '', {
        now: new Date(),
        overlap: !signOut,
      })
      lines.push(
        signOut
          ? 'Session tokens: new key created. All users must sign in again.'
          : `Session tokens: new key created, used from the next start. Tokens signed with the ${accepted - 1} earlier keys stay valid until they expire.`,
      )
    }
    await store.audit.add({
      action: 'keys_rotated',
      at: new Date(),
      userId: null,
      username: null,
      address: null,
      details: { by: 'command line', sign_out: signOut },
    })
    return lines
  })
}

async function rotateSecrets(
  config: Config,
  sealed: SealedRepository,
  sources: SecretKeySources,
): Promise<string[]> {
  const isConfigured = sources.configured !== undefined && sources.configured !== ''
  // An interrupted rotation has already created the new key.
  if (!isConfigured && loadSecretKeys(sources, config.data_dir).length === 1)
    rotateSecretKey(config.data_dir)
  const keys = loadSecretKeys(sources, config.data_dir)
  const [newest] = keys
  if (newest === undefined) throw new AppError('internal', 'No secret key found.')
  if (isConfigured && keys.length === 1)
    return [
      'Stored secrets: not changed. To change their key, set NANOCLAW_SECRET_KEY to a new value and NANOCLAW_SECRET_KEY_PREVIOUS to the current one, then run this command again.',
    ]
  const { done, unreadable } = await resealAll(sealed, {
    earlier: createSecretBox(keys),
    newest: createSecretBox([newest]),
  })
  const lines = [`Stored secrets: ${done} re-encrypted with the new key.`]
  if (unreadable > 0)
    lines.push(
      `${unreadable} could not be decrypted with any key and were not changed. Enter them again.`,
    )
  if (isConfigured) lines.push('You can now unset NANOCLAW_SECRET_KEY_PREVIOUS.')
  else dropEarlierSecretKeys(config.data_dir)
  return lines
}

/** Seals with the newest key everything that is sealed with an older one. */
async function resealAll(
  repository: SealedRepository,
  boxes: { earlier: SecretBox; newest: SecretBox },
): Promise<{ done: number; unreadable: number }> {
  let unreadable = 0
  const pending: SealedValue[] = []
  let done = 0
  const flush = async (): Promise<void> => {
    await repository.replace(pending)
    done += pending.length
    pending.length = 0
  }
  for (const value of await repository.list()) {
    const purpose = purposeOf(value)
    if (openIfReadable(boxes.newest, value.sealed, purpose) !== null) continue
    const text = openIfReadable(boxes.earlier, value.sealed, purpose)
    if (text === null) unreadable += 1
    else pending.push({ ...value, sealed: boxes.newest.seal(text, purpose) })
    if (pending.length >= BATCH) await flush()
  }
  await flush()
  return { done, unreadable }
}
