// The key of stored secrets is lost: nothing is overwritten, the start and the doctor say so, and no request is a 500.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectSecrets } from '../../../server/composition/sealed-secrets.ts'
import { databaseSettings } from '../../../server/composition/settings.ts'
import { checkSecrets } from '../../../server/doctor/check-blobs.ts'
import { databaseKeys, register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'

const databases = useDatabases()
const { start } = useServers()

test.each(['sqlite', 'postgres'] as const)(
  'without the secret key, stored secrets stay as they are and open again with the key of the backup; until then, requests, start and doctor say what to do (%s)',
  async (dialect) => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-lost-key-'))
    const config = {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      ...databaseKeys(await databases.migrated(dialect)),
    }
    const begin = () => start({ config, folder, dialect })
    const first = await begin()
    const settings = databaseSettings(first.server.config)
    const findings = () => checkSecrets(settings, () => inspectSecrets(first.server.config, {}))
    const token = await register(first, 'ada')
    const channel = { type: 'webhook', name: 'ops', settings: { url: 'https://hooks.example/a' } }
    await first.call('POST', '/api/channels', { token, body: channel })
    const hook = { url: 'https://hooks.example/b', events: ['run.ended'] }
    const { id } = (await first.call('POST', '/api/webhooks', { token, body: hook })).json.data
    const { public_key: pushKey } = (await first.call('GET', '/api/push', { token })).json.data
    expect(await findings()).toMatchObject([{ code: 'secrets_ok', params: { count: 3 } }])
    const file = join(folder, 'data/secret.key')
    const key = readFileSync(file, 'utf8')
    await first.close()
    rmSync(file)

    const second = await begin()
    expect(second.logged()).toMatch(/the new secret key, which was created because there was none/)
    expect(second.logged()).toMatch(/channels, webhooks|push notifications, channels, webhooks/)
    const requests = ['/api/channels', '/api/push', '/api/webhooks', `/api/webhooks/${id}`]
    for (const path of requests)
      expect((await second.call('GET', path, { token })).status, path).toBeLessThan(500)
    expect((await second.call('GET', '/api/push', { token })).json).toMatchObject({
      error: 'conflict',
      reason: 'secret_unreadable',
    })
    expect(await findings()).toMatchObject([
      { state: 'fail', code: 'secrets_unreadable', detail: expect.stringContaining('webhooks') },
    ])
    await second.close()

    // What was sealed in the meantime and what was sealed before can both be opened.
    writeFileSync(file, `${readFileSync(file, 'utf8')}${key}`)
    const third = await begin()
    expect(third.logged()).not.toContain('cannot be opened')
    const channels = await third.call('GET', '/api/channels', { token })
    expect(channels.json.data.items[0].settings.url).toBe('https://hooks.example/…')
    expect((await third.call('GET', '/api/push', { token })).json.data.public_key).toBe(pushKey)
    expect(await findings()).toMatchObject([{ code: 'secrets_ok' }])
  },
)
