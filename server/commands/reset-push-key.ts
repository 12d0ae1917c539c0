// `nanoclaw admin reset-push-key`: a new key for push notifications when the stored one can no longer be opened.

import { z } from 'zod'
import { createSecretBox, openIfReadable } from '../auth/secret-box.ts'
import { loadSecretKeys, type SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { createStore } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { newPushKey, PUSH_KEY_PURPOSE, PUSH_KEY_SETTING } from '../messaging/push.ts'
import { COMMAND_LINE } from '../protocol/admin/audit.ts'
import { whileServerIsStopped } from './stopped-server.ts'

/**
 * Browsers are subscribed with the key, so that all have to subscribe again. @returns the lines to print.
 * @throws AppError with a text for the operator if the key can be opened.
 */
export async function resetPushKey(config: Config, keys: SecretKeySources): Promise<string[]> {
  return whileServerIsStopped(config, 'reset-push-key', async (database) => {
    const { settings, push, audit } = createStore(database)
    const box = createSecretBox(loadSecretKeys(keys, config.data_dir))
    const stored = await settings.get(PUSH_KEY_SETTING, z.string())
    if (stored !== undefined && openIfReadable(box, stored, PUSH_KEY_PURPOSE) !== null)
      throw new AppError('conflict', 'The key of push notifications can be opened. Nothing to do.')
    await database.write(async (tx) => {
      await settings.set(tx, PUSH_KEY_SETTING, box.seal(newPushKey(), PUSH_KEY_PURPOSE))
      await push.removeAll(tx)
      await audit.record(tx, COMMAND_LINE, {
        action: 'keys_rotated',
        at: new Date(),
        details: { push: true },
      })
    })
    return ['Push notifications: new key created. Everybody turns them on again in each browser.']
  })
}
