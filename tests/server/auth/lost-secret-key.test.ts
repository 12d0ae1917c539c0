// The key of stored secrets is lost: nothing is overwritten, the start and the doctor say so, and no request is a 500.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { inspectSecrets } from '../../../server/administration/sealed-secrets.ts'
import { createSecretBox } from '../../../server/auth/secret-box.ts'
import { administer } from '../../../server/commands/admin.ts'
import { databaseSettings, installationSettings } from '../../../server/config/settings.ts'
import { connect } from '../../../server/db/connect.ts'
import { createMcpGrantRepository } from '../../../server/db/repositories/accounts/mcp-grants.ts'
import { checkSecrets } from '../../../server/doctor/checks/blobs.ts'
import { createMcpGrantStore } from '../../../server/tools/mcp/oauth/stored-grants.ts'
import { eventually } from '../../support/eventually.ts'
import { databaseKeys, register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'
import { createBrowser, startRealIssuer } from '../../support/sign-in/issuer.ts'
import { accountOf, PUBLIC, settings, setUp, signIn } from '../../support/sign-in/single-sign-on.ts'
import { describeOnEachDatabase, useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { addUser } from '../../support/store/rows.ts'
import { startReceiver } from '../messaging/receivers.ts'

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
    const findings = () =>
      checkSecrets(settings, () => inspectSecrets(installationSettings(first.server.config), {}))
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
    expect(second.logged()).toMatch(/the new secret key, which is created because there is none/)
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
    expect((await inspectSecrets(installationSettings(settings), {})).unreadable).not.toContain(
      'push notifications',
    )
    const third = await begin()
    expect((await third.call('GET', '/api/push', { token })).status).toBe(200)
  },
)

test.each(DIALECTS)(
  'without the secret key, deliveries are stored as failed with what to do and succeed once the key is back, a repeated request does its work no second time, and models and MCP servers ask for their secrets (%s)',
  async (dialect) => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-lost-key-'))
    const keys = databaseKeys(await databases.migrated(dialect))
    const receiver = await startReceiver()
    const receiverPort = Number(new URL(receiver.url).port)
    const config = {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      network: { allow_private: ['127.0.0.1'], allow_ports: [receiverPort] },
      ...keys,
    }
    const begin = () => start({ config, folder, dialect })
    const first = await begin()
    const token = await register(first, 'ada')
    const model = { id: 'm', name: 'M', api_url: 'https://api.example.org/v1', api_key: 'sk-a' }
    await first.call('POST', '/api/admin/models', { token, body: model })
    const mcp = { name: 'tools', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': 'k' } }
    await first.call('POST', '/api/admin/mcp', { token, body: mcp })
    const body = { type: 'webhook', name: 'ops', settings: { url: `${receiver.url}/channel` } }
    const channel = (await first.call('POST', '/api/channels', { token, body })).json.data
    const hook = { url: `${receiver.url}/hook`, events: ['run.ended'] }
    const { id } = (await first.call('POST', '/api/webhooks', { token, body: hook })).json.data
    const repeatable = { token, body: { name: 'CI' }, headers: { 'idempotency-key': 'once' } }
    const createKey = (server: typeof first) => server.call('POST', '/api/auth/keys', repeatable)
    expect((await createKey(first)).status).toBe(200)
    const settings = databaseSettings(first.server.config)
    const { id: userId } = (await first.call('GET', '/api/auth/profile', { token })).json.data
    await first.close()
    const file = join(folder, 'data/secret.key')
    const key = readFileSync(file, 'utf8')
    rmSync(file)
    const database = await connect(settings, { log: { info() {}, warn() {} } })
    await database.write((tx) =>
      tx.insert(database.tables.deliveries).values({
        id: 'waiting',
        userId,
        channelId: channel.id,
        content: 'hello',
        status: 'pending',
        attempts: 0,
        nextAttemptAt: new Date(0),
        createdAt: new Date(),
      }),
    )
    await database.close()

    const second = await begin()
    const failure = {
      status: 'pending',
      attempts: 1,
      reason: 'delivery_secret_unreadable',
      error: expect.stringContaining('restore the secret key'),
    }
    await eventually(async () => {
      const { items } = (await second.call('GET', '/api/channels', { token })).json.data
      expect(items[0].last_delivery).toMatchObject(failure)
    })
    const tested = await second.call('POST', `/api/webhooks/${id}/test`, { token })
    expect(tested).toMatchObject({ status: 200, json: { data: failure } })
    expect(await createKey(second)).toMatchObject({
      status: 409,
      json: { reason: 'idempotency_body_gone' },
    })
    expect((await second.call('GET', '/api/auth/keys', { token })).json.data.items).toHaveLength(1)
    const models = await second.call('GET', '/api/admin/models', { token })
    expect(models.json.data.items).toContainEqual(
      expect.objectContaining({ id: 'm', needs_key: true }),
    )
    const asked = await second.call('POST', '/v1/chat/completions', {
      token,
      body: { model: 'nanoclaw/m', messages: [{ role: 'user', content: 'Hello' }] },
    })
    expect(asked.status).toBeGreaterThanOrEqual(400)
    expect(asked.status).toBeLessThan(500)
    const servers = await second.call('GET', '/api/admin/mcp', { token })
    expect(servers.json.data.items).toMatchObject([{ name: 'tools', needs_settings: true }])
    expect((await second.call('GET', '/api/mcp', { token })).status).toBe(200)
    expect(receiver.received).toEqual([])
    await second.close()

    writeFileSync(file, `${readFileSync(file, 'utf8')}${key}`)
    const third = await begin()
    const again = await third.call('POST', `/api/webhooks/${id}/test`, { token })
    expect(again.json.data.status).toBe('delivered')
    expect(await createKey(third)).toMatchObject({ status: 200, json: { data: { name: 'CI' } } })
  },
)

describeOnEachDatabase('the sign-in to an MCP server', (open) => {
  test('and the registration there count as missing when they were sealed with a lost key, so that both are made again', async () => {
    const database = await open()
    const userId = await addUser(database)
    const storeWith = (key: Buffer) =>
      createMcpGrantStore(
        createMcpGrantRepository(database),
        createSecretBox(key),
        () => new Date(),
      )
    const before = storeWith(randomBytes(32))
    const client = { client_id: 'c' }
    await before.save(userId, 'tools', {
      url: 'https://tools.example/mcp',
      issuer: 'https://issuer.example',
      client,
      resource: 'https://tools.example/mcp',
      accessToken: 'a',
      refreshAt: null,
    })
    await before.saveClient('https://issuer.example', 'https://chat.example/callback', client)
    expect(await before.find(userId, 'tools')).toBeDefined()
    const after = storeWith(randomBytes(32))
    expect(await after.find(userId, 'tools')).toBeUndefined()
    const found = await after.findClient('https://issuer.example', 'https://chat.example/callback')
    expect(found).toBeUndefined()
  })
})

test.each(DIALECTS)(
  'without the secret key, a session of single sign-on goes on and is ended here, without a visit to the issuer (%s)',
  async (dialect) => {
    const issuer = await startRealIssuer(`${PUBLIC}/api/auth/oidc/callback`, () => ({
      sub: '7',
      preferred_username: 'ada',
    }))
    onTestFinished(() => issuer.close())
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-lost-key-'))
    const config = { ...settings(issuer.url), ...databaseKeys(await databases.migrated(dialect)) }
    const begin = () => start({ config, folder, dialect })
    const first = await begin()
    await setUp(first)
    const sessions = []
    for (const browser of [createBrowser(), createBrowser()]) {
      await signIn(first, browser)
      sessions.push((await accountOf(first, browser)).token)
    }
    const [one, two] = sessions
    const logOut = async (server: typeof first, token: string) =>
      (await server.call('POST', '/api/auth/logout', { token })).json
    expect((await logOut(first, one)).data?.url).toContain(issuer.url)
    await first.close()
    rmSync(join(folder, 'data/secret.key'))

    const second = await begin()
    expect((await second.call('GET', '/api/auth/profile', { token: two })).status).toBe(200)
    const ended = await logOut(second, two)
    expect([ended.code, ended.data?.url]).toEqual([0, undefined])
    expect((await second.call('GET', '/api/auth/profile', { token: two })).status).toBe(401)
  },
)
