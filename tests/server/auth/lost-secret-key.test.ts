// The key of stored secrets is lost: nothing is overwritten, the start and the doctor say so, and no request is a 500.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { administer } from '../../../server/composition/commands/admin.ts'
import { inspectSecrets } from '../../../server/composition/sealed-secrets.ts'
import { databaseSettings } from '../../../server/composition/settings.ts'
import { checkSecrets } from '../../../server/doctor/check-blobs.ts'
import { databaseKeys, register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const databases = useDatabases()
const { start } = useServers()

const exportedConversation = {
  format: 'nanoclaw',
  version: 1,
  conversation: {
    title: 'long',
    model: null,
    system_prompt: null,
    temperature: null,
    max_tokens: null,
    thinking_enabled: false,
    pinned: false,
    archived: false,
    tags: [],
    leaf_id: 'm-0',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  },
  messages: [
    {
      id: 'm-0',
      parent_id: null,
      role: 'user',
      text: 'Hello',
      token_count: 0,
      model: null,
      status: 'completed',
      error: null,
      created_at: '2026-01-01T00:00:00.000Z',
      attachments: [],
      steps: [],
    },
  ],
}

test.each(DIALECTS)(
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

test.each(DIALECTS)(
  'without the secret key, shares are listed and can be ended, recovery codes still sign in, and push notifications get a new key (%s)',
  async (dialect) => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-lost-key-'))
    const config = {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      ...databaseKeys(await databases.migrated(dialect)),
    }
    const begin = () => start({ config, folder, dialect })
    const first = await begin()
    const token = await register(first, 'ada')
    const imported = await first.call('POST', '/api/conversations/import', {
      token,
      body: exportedConversation,
    })
    const share = `/api/conversations/${imported.json.data.id}/share`
    const link = new URL((await first.call('POST', share, { token, body: {} })).json.data.url)
    const password = { current_password: 'a good password' }
    const { secret } = (await first.call('POST', '/api/auth/totp', { token, body: password })).json
      .data
    const code = (ahead: number): string =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + ahead })
    const confirmed = await first.call('POST', '/api/auth/totp/confirm', {
      token,
      body: { code: code(0) },
    })
    const [recovery = ''] = confirmed.json.data.recovery_codes as string[]
    const resetPush = () => administer(first.server.config, ['reset-push-key'])
    const settings = first.server.config
    await first.close()
    await expect(resetPush()).rejects.toThrow('can be opened')
    rmSync(join(folder, 'data/secret.key'))

    const second = await begin()
    const shares = await second.call('GET', '/api/shares', { token })
    expect(shares.json.data.items).toMatchObject([{ title: 'long', token: null, url: null }])
    expect((await fetch(second.url + link.pathname)).status, 'visitors still get in').toBe(200)
    expect((await second.call('POST', share, { token, body: {} })).json).toMatchObject({
      error: 'conflict',
      reason: 'share_unreadable',
    })
    expect((await second.call('DELETE', share, { token })).status).toBe(200)
    expect((await fetch(second.url + link.pathname)).status).toBe(404)
    const again = await second.call('POST', share, { token, body: {} })
    expect(again.json.data.url).toContain('/s/')

    const signIn = async (given: string) => {
      const login = { username: 'ada', password: 'a good password' }
      const { json } = await second.call('POST', '/api/auth/login', { body: login })
      const { challenge } = z.object({ challenge: z.string() }).parse(json.details)
      return second.call('POST', '/api/auth/login/second-factor', {
        body: { challenge, code: given },
      })
    }
    expect(await signIn(code(30_000))).toMatchObject({
      status: 409,
      json: { reason: 'second_factor_unreadable' },
    })
    expect((await signIn(recovery)).status).toBe(200)
    await second.close()

    expect(await resetPush()).toEqual([expect.stringContaining('new key')])
    expect((await inspectSecrets(settings, {})).unreadable).not.toContain('push notifications')
    const third = await begin()
    expect((await third.call('GET', '/api/push', { token })).status).toBe(200)
  },
)
