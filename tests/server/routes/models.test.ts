// Models of the configuration and of administrators: listed, kept secret, changed.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../../support/server.ts'

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

  test('the public list holds neither key nor URL', async () => {
    const { json } = await call('GET', '/api/models')
    expect(json.data).toMatchObject([{ id: 'from-config', name: 'From config', default: true }])
    expect(JSON.stringify(json)).not.toMatch(/canary|127\.0\.0\.1|api_url/)
  })

  test('one is added, changed and deleted; its key is sealed and never given back', async () => {
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

  test('a stored key does not follow its model to another provider', async () => {
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
    [{ id: 'from-config', api_url: 'http://127.0.0.1:9' }, 409],
  ])('adding %j answers %i', async (body, status) => {
    expect((await call('POST', '/api/admin/models', body)).status).toBe(status)
  })

  test('one of the configuration is not changed here', async () => {
    expect((await call('PATCH', '/api/admin/models/from-config', { name: 'x' })).status).toBe(409)
    expect((await call('DELETE', '/api/admin/models/from-config')).status).toBe(409)
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
