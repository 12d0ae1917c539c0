// Models from the configuration and from administrators: listing, changing, and keeping keys secret.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../../../support/server/server.ts'

const configured = {
  id: 'from-config',
  name: 'From config',
  api_url: 'http://127.0.0.1:9/v1',
  api_key: 'canary-of-config',
}

describe('models', () => {
  const { start } = useServers()
  let server: TestServer
  beforeAll(async () => {
    server = await start({ config: { models: [configured] } })
  })
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, body === undefined ? {} : { body })

  test('the public list contains neither keys nor URLs', async () => {
    const { json } = await call('GET', '/api/models')
    expect(json.data).toMatchObject([
      { id: 'from-config', name: 'From config', service: null, default: true },
    ])
    expect(JSON.stringify(json)).not.toMatch(/canary|127\.0\.0\.1|api_url/)
  })

  test('a model can be added, changed and deleted, and its key is sealed and never returned', async () => {
    const added = await call('POST', '/api/admin/models', {
      id: 'mine',
      api_url: 'http://127.0.0.1:9/v1',
      api_key: 'canary-of-store',
      vision: true,
      max_tokens: null,
      unknown: 1,
    })
    expect(added.json.data).toMatchObject({
      id: 'mine',
      vision: true,
      has_api_key: true,
      source: 'store',
    })
    const patched = await call('PATCH', '/api/admin/models/mine', { name: 'Mine', vision: null })
    expect(patched.json.data).toMatchObject({ name: 'Mine', has_api_key: true })
    expect(patched.json.data).not.toHaveProperty('vision')
    const list = await call('GET', '/api/admin/models')
    expect(list.json.data.items.map(({ id }: { id: string }) => id)).toEqual([
      'from-config',
      'mine',
    ])
    expect(JSON.stringify([added, patched, list])).not.toContain('canary')
    expect((await call('GET', '/api/models')).json.data).toHaveLength(2)

    const file = server.server.config.db_sqlite_file ?? ''
    const bytes = readFileSync(file, 'latin1') + readFileSync(`${file}-wal`, 'latin1')
    expect(bytes).toContain('mine')
    expect(bytes).not.toContain('canary-of-store')
    expect((await call('DELETE', '/api/admin/models/mine')).status).toBe(200)
    expect((await call('DELETE', '/api/admin/models/mine')).status).toBe(404)
  })

  test('headers of its own are sealed, sent, changed one by one, and never returned', async () => {
    const path = '/api/admin/models/gated'
    const added = await call('POST', '/api/admin/models', {
      id: 'gated',
      api_url: 'http://127.0.0.1:9/v1',
      headers: { 'X-Gateway-Key': 'canary-of-header', 'x-team': 'canary-team' },
    })
    expect(added.json.data).toMatchObject({
      has_api_key: false,
      header_names: ['x-gateway-key', 'x-team'],
    })
    const file = server.server.config.db_sqlite_file ?? ''
    const bytes = readFileSync(file, 'latin1') + readFileSync(`${file}-wal`, 'latin1')
    expect(bytes).not.toMatch(/canary-(of-header|team)/)
    const keyed = await call('PATCH', path, { api_key: 'canary-key', headers: { 'x-team': null } })
    expect(keyed.json.data).toMatchObject({ has_api_key: true, header_names: ['x-gateway-key'] })
    // The values stay with the server that knows them.
    const elsewhere = { api_url: 'http://127.0.0.1:10/v1', api_key: 'new' }
    expect((await call('PATCH', path, elsewhere)).status).toBe(400)
    const moved = await call('PATCH', path, { ...elsewhere, headers: { 'x-gateway-key': 'other' } })
    expect(moved.json.data).toMatchObject({ header_names: ['x-gateway-key'] })
    expect((await call('PATCH', path, { headers: null })).json.data.header_names).toEqual([])
    expect(JSON.stringify([added, keyed, moved])).not.toContain('canary')
    await call('DELETE', path)
  })

  test('a stored key is not used when the address of its model changes', async () => {
    await call('POST', '/api/admin/models', {
      id: 'moving',
      api_url: 'http://127.0.0.1:9/v1',
      api_key: 'canary-that-stays',
    })
    const path = '/api/admin/models/moving'
    const elsewhere = { api_url: 'http://127.0.0.1:10/v1' }
    expect((await call('PATCH', path, elsewhere)).status).toBe(400)
    expect((await call('PATCH', path, { ...elsewhere, api_key: 'new' })).status).toBe(200)
    expect((await call('PATCH', path, { api_key: null })).json.data.has_api_key).toBe(false)
  })

  test.each([
    [{ id: 'x' }, 400],
    [{ id: '', api_url: 'http://127.0.0.1:9' }, 400],
    [{ id: 'x', api_url: 'nowhere' }, 400],
    [{ id: 'x', api_url: 'http://127.0.0.1:9', tool_mode: 'magic' }, 400],
    [{ id: 'x', api_url: 'http://127.0.0.1:9', price: { input: -1 } }, 400],
    [{ id: 'x', api_url: 'http://127.0.0.1:9', headers: { host: 'other' } }, 400],
    [{ id: 'x', api_url: 'http://127.0.0.1:9', headers: { 'a b': 'c' } }, 400],
    [{ id: 'x', api_url: 'http://127.0.0.1:9', headers: { a: 'b\r\nc: d' } }, 400],
    [{ id: 'from-config', api_url: 'http://127.0.0.1:9' }, 409],
  ])('adding %j returns %i', async (body, status) => {
    expect((await call('POST', '/api/admin/models', body)).status).toBe(status)
  })

  test('a model of the configuration cannot be changed or deleted', async () => {
    expect((await call('PATCH', '/api/admin/models/from-config', { name: 'x' })).status).toBe(409)
    expect((await call('DELETE', '/api/admin/models/from-config')).status).toBe(409)
  })

  test('a model whose key can no longer be opened is marked, and the others still work', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-keys-'))
    const file = join(folder, 'store.db')
    const first = await start({ folder, config: { db_sqlite_file: file } })
    const lost = { id: 'lost', api_url: 'http://127.0.0.1:9/v1', api_key: 'canary-of-lost' }
    const free = { id: 'free', api_url: 'http://127.0.0.1:9/v1' }
    for (const body of [lost, free])
      expect((await first.call('POST', '/api/admin/models', { body })).status).toBe(200)
    await first.close()
    // Simulates a restored backup without the original secret key.
    writeFileSync(join(folder, 'data/secret.key'), 'a'.repeat(64))
    const second = await start({ folder, config: { db_sqlite_file: file } })
    const marks = async (path: string) => {
      const { status, json } = await second.call('GET', path)
      expect(status).toBe(200)
      const items: { id: string; needs_key: boolean }[] = json.data.items ?? json.data
      return items.map(({ id, needs_key }) => [id, needs_key])
    }
    for (const path of ['/api/models', '/api/admin/models'])
      expect(await marks(path)).toEqual([
        ['lost', true],
        ['free', false],
      ])
    const { id } = (await second.call('POST', '/api/conversations', { body: {} })).json.data
    const send = async (model: string) =>
      (
        await second.call('POST', `/api/conversations/${id}/messages`, {
          body: { text: 'Hello', model, stream: false },
        })
      ).json.data.run
    expect((await send('lost')).error.content).toContain('API key of lost cannot be decrypted')
    expect((await send('free')).error.content).not.toContain('API key')
    const headers = { 'x-team': 'a' }
    const alone = await second.call('PATCH', '/api/admin/models/lost', { body: { headers } })
    expect([alone.status, alone.json]).toMatchObject([400, { reason: 'model_key_missing' }])
    expect((await marks('/api/models'))[0]).toEqual(['lost', true])
    const entered = await second.call('PATCH', '/api/admin/models/lost', {
      body: { api_key: 'canary-again' },
    })
    expect(entered.json.data).toMatchObject({ has_api_key: true, needs_key: false })
    expect((await marks('/api/models'))[0]).toEqual(['lost', false])
  })

  test('only administrators see and change models', async () => {
    const multi = await start({ config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET } })
    const tokens: string[] = []
    for (const username of ['first', 'second'])
      tokens.push(
        (
          await multi.call('POST', '/api/auth/register', {
            body: { username, password: 'a good password' },
          })
        ).json.data.token,
      )
    const statuses = await Promise.all(
      [tokens[0], tokens[1], undefined].map(
        async (token) => (await multi.call('GET', '/api/admin/models', { token })).status,
      ),
    )
    expect(statuses).toEqual([200, 403, 401])
    expect((await multi.call('GET', '/api/models')).json.data).toMatchObject([
      { id: 'demo', demo: true },
    ])
  })
})
