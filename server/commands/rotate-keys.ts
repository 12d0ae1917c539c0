// `nanoclaw admin rotate-keys`: new keys for tokens and for stored secrets, without signing anybody out. It can be repeated.

import { purposeOf } from '../administration/sealed-secrets.ts'
import { createSecretBox, openIfReadable, type SecretBox } from '../auth/secret-box.ts'
import {
  dropEarlierSecretKeys,
  loadSecretKeys,
  rotateSecretKey,
  type SecretKeySources,
} from '../auth/secret-keys.ts'
import { draftTokenKeys, type TokenKeysDraft } from '../auth/token-keys.ts'
import type { Config } from '../config/schema.ts'
import type { SealedValue } from '../db/repositories/sealed.ts'
import { createStore } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { COMMAND_LINE } from '../protocol/admin/audit.ts'
import { whileServerIsStopped } from './stopped-server.ts'

/**
 * @param options.signOut invalidates all earlier tokens, for keys that somebody else may have.
 * @returns the lines to print.
 */
export async function rotateKeys(
  config: Config,
  { keys, signOut }: { keys: SecretKeySources; signOut: boolean },
): Promise<string[]> {
  return whileServerIsStopped(config, 'rotate-keys', async (database) => {
    const { sealed, audit } = createStore(database)
    const values = await sealed.list()
    const now = new Date()
    // New keys are written before or within the transaction: what cannot be recorded is not done. Earlier ones open what they
    // sealed until it has ended, and sign until then.
    const tokens =
      config.auth_mode === 'multi'
        ? draftTokenKeys(config.data_dir, config.jwt_secret ?? '', { now, overlap: !signOut })
        : null
    const work = database.write(async (tx) => {
      await audit.record(tx, COMMAND_LINE, {
        action: 'keys_rotated',
        at: now,
        details: { sign_out: signOut },
      })
      const { reseal, report } = rotateSecrets(config, values, keys)
      await sealed.replace(tx, reseal)
      return report()
    })
    const lines = await work.catch((error: unknown) => {
      tokens?.discard()
      throw error
    })
    tokens?.use()
    if (!isConfigured(keys)) dropEarlierSecretKeys(config.data_dir)
    return [...lines, ...(tokens === null ? [] : [describeTokens(tokens, signOut)])]
  })
}

const isConfigured = ({ configured }: SecretKeySources): boolean =>
  configured !== undefined && configured !== ''

const describeTokens = ({ accepted }: TokenKeysDraft, signOut: boolean): string =>
  signOut
    ? 'Session tokens: new key created. All users must sign in again.'
    : `Session tokens: new key created, used from the next start. Tokens signed with the ${accepted - 1} earlier keys stay valid until they expire.`

/** @returns the values to store, and the lines to print once they are all stored. */
function rotateSecrets(
  config: Config,
  values: readonly SealedValue[],
  sources: SecretKeySources,
): { reseal: Iterable<SealedValue>; report(): string[] } {
  const isOperators = isConfigured(sources)
  // An interrupted rotation has already created the new key.
  if (!isOperators && loadSecretKeys(sources, config.data_dir).length === 1)
    rotateSecretKey(config.data_dir)
  const keys = loadSecretKeys(sources, config.data_dir)
  const [newest] = keys
  if (newest === undefined) throw new AppError('internal', 'No secret key found.')
  if (isOperators && keys.length === 1)
    return {
      reseal: [],
      report: () => [
        'Stored secrets: not changed. To change their key, set NANOCLAW_SECRET_KEY to a new value and NANOCLAW_SECRET_KEY_PREVIOUS to the current one, then run this command again.',
      ],
    }
  const counted = { done: 0, unreadable: 0 }
  return {
    reseal: resealed(values, counted, {
      earlier: createSecretBox(keys),
      newest: createSecretBox([newest]),
    }),
    report() {
      const lines = [`Stored secrets: ${counted.done} re-encrypted with the new key.`]
      if (counted.unreadable > 0)
        lines.push(
          `${counted.unreadable} could not be decrypted with any key and were not changed. Enter them again.`,
        )
      if (isOperators) lines.push('You can now unset NANOCLAW_SECRET_KEY_PREVIOUS.')
      return lines
    },
  }
}

/** Seals with the newest key what is sealed with an older one, and counts it. */
function* resealed(
  values: readonly SealedValue[],
  counted: { done: number; unreadable: number },
  boxes: { earlier: SecretBox; newest: SecretBox },
): Generator<SealedValue> {
  for (const value of values) {
    const purpose = purposeOf(value)
    if (openIfReadable(boxes.newest, value.sealed, purpose) !== null) continue
    const text = openIfReadable(boxes.earlier, value.sealed, purpose)
    if (text === null) {
      counted.unreadable += 1
      continue
    }
    counted.done += 1
    yield { ...value, sealed: boxes.newest.seal(text, purpose) }
  }
}
