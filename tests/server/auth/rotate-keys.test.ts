// Rotating keys: open sessions survive, stored secrets are sealed again, and an interrupted rotation is completed.
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rotateSecretKey } from '../../../server/auth/secret-keys.ts'
import { administer } from '../../../server/commands/admin.ts'
import { databaseKeys, register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const databases = useDatabases()
const { start } = useServers()

test.each(DIALECTS)(
  'keys are rotated without signing anybody out, again after an interruption, and with sign-out on request (%s)',
  async (dialect) => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-rotation-'))
    const config = {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      ...databaseKeys(await databases.migrated(dialect)),
    }
    const begin = () => start({ config, folder, dialect })
    const rotate = async (server: Awaited<ReturnType<typeof begin>>, ...operands: string[]) => {
      await server.close()
      return administer(server.server.config, ['rotate-keys', ...operands])
    }
    let server = await begin()
    const token = await register(server, 'ada')
    const login = { username: 'ada', password: 'a good password', cookie: true }
    const page = await server.call('POST', '/api/auth/login', { body: login })
    const cookie = page.headers.get('set-cookie')?.split(';')[0]?.split('=')[1] ?? ''
    const model = {
      id: 'm',
      name: 'M',
      api_url: 'https://api.example.org/v1',
      api_key: 'sk-stored',
    }
    expect((await server.call('POST', '/api/admin/models', { token, body: model })).status).toBe(
      200,
    )
    const mcp = { name: 'tools', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': 'k' } }
    await server.call('POST', '/api/admin/mcp', { token, body: mcp })
    const channel = { type: 'webhook', name: 'ops', settings: { url: 'https://hooks.example/a' } }
    await server.call('POST', '/api/channels', { token, body: channel })
    const hook = { url: 'https://hooks.example/b', events: ['run.ended'] }
    const { id } = (await server.call('POST', '/api/webhooks', { token, body: hook })).json.data
    await server.call('POST', `/api/webhooks/${id}/secret`, { token, body: {} })
    const timed = { name: 'Signed', text: 'Look.', when: { hook: true } }
    const hookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const scheduled = await server.call('POST', '/api/schedules', {
      token,
      body: { ...timed, hook_secret: hookSecret },
    })
    expect(scheduled.status).toBe(200)
    const pushKey = async () =>
      (await server.call('GET', '/api/push', { token })).json.data?.public_key
    const firstPushKey = await pushKey()
    await expect(administer(server.server.config, ['rotate-keys'])).rejects.toThrow(/Stop it first/)
    const keyFile = () => readFileSync(join(folder, 'data/secret.key'), 'utf8')
    const before = keyFile()

    const stillWorks = async () => {
      const { port } = new URL(server.url)
      const headers = { cookie: `nanoclaw_session_${port}=${cookie}` }
      const renewed = await server.call('POST', '/api/auth/refresh', { headers })
      const profile = await server.call('GET', '/api/auth/profile', { token })
      const channels = await server.call('GET', '/api/channels', { token })
      const url = channels.json.data?.items[0]?.settings.url
      return [renewed.status, profile.status, url, (await pushKey()) === firstPushKey]
    }
    const works = [200, 200, 'https://hooks.example/…', true]
    const printed = await rotate(server)
    expect(printed?.join(' ')).toMatch(/7 re-encrypted with the new key.*1 earlier keys stay valid/)
    expect(keyFile()).not.toBe(before)
    expect(keyFile().trim()).toMatch(/^[0-9a-f]{64}$/)
    server = await begin()
    expect(await stillWorks()).toEqual(works)
    const models = await server.call('GET', '/api/admin/models', { token })
    expect(JSON.stringify(models.json)).not.toContain('unreadable')
    const added = await server.call('GET', '/api/admin/mcp', { token })
    expect(added.json.data.items).toMatchObject([
      { name: 'tools', needs_settings: false, url: mcp.url },
    ])
    const fresh = (await server.call('POST', '/api/auth/login', { body: login })).json.data.token
    const header = JSON.parse(Buffer.from(fresh.split('.')[0], 'base64url').toString())
    expect(header.kid).toMatch(/^[0-9a-f]{16}$/)

    // As if the command had been killed after it had created the key.
    await server.close()
    rotateSecretKey(join(folder, 'data'))
    server = await begin()
    expect((await stillWorks()).slice(1)).toEqual(works.slice(1))
    expect((await rotate(server))?.join(' ')).toContain('7 re-encrypted with the new key')
    expect(keyFile().trim()).toMatch(/^[0-9a-f]{64}$/)

    server = await begin()
    expect((await stillWorks()).slice(1)).toEqual(works.slice(1))
    expect((await rotate(server, 'sign-out'))?.join(' ')).toContain('All users must sign in again')
    server = await begin()
    expect((await stillWorks()).slice(0, 2)).toEqual([401, 401])
    const again = await server.call('POST', '/api/auth/login', { body: login })
    expect(again.status).toBe(200)
  },
)
