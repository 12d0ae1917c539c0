// Sessions: renewing with the cookie, reuse of a replaced one, listing and ending them with their streams, scopes of keys.
import { beforeAll, describe, expect, test } from 'vitest'
import { createRefreshTokens } from '../../../server/auth/refresh-token.ts'
import { createSessions } from '../../../server/auth/sessions.ts'
import { createStore } from '../../../server/db/store.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { somebody } from '../../support/store/store-rows.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }
const person = (username: string) => ({ username, password: 'a good password' })

describeOnEachServer('sessions', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start(multi)
    await register(server, 'admin')
  })

  const login = (username: string, more: object = {}, headers = {}) =>
    server.call('POST', '/api/auth/login', { body: { ...person(username), ...more }, headers })
  /** The cookie that a response sets, as a browser sends it back. */
  const cookieOf = (headers: Headers): string => headers.get('set-cookie')?.split(';')[0] ?? ''
  const refresh = (cookie: string, headers = {}) =>
    server.call('POST', '/api/auth/refresh', { headers: { cookie, ...headers } })
  const statusOf = async (token: string): Promise<number> =>
    (await server.call('GET', '/api/auth/profile', { token })).status
  const tokenOf = async (username: string): Promise<string> =>
    (await login(username)).json.data.token
  /** An open stream; `ended` resolves when the server ends it. */
  const openStream = async (token: string): Promise<{ ended: Promise<void> }> => {
    const { body, status } = await fetch(`${server.url}/api/events`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(status).toBe(200)
    const reader = body?.getReader()
    await reader?.read()
    const drain = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    }
    return { ended: drain().catch(() => undefined) }
  }

  test('a page gets a short-lived token and a cookie that no script and no other site can use', async () => {
    await register(server, 'ada')
    const { json, headers } = await login('ada', { cookie: true })
    expect(json.data.expires_in).toBe(15 * 60)
    const [name, ...attributes] = (headers.getSetCookie()[0] ?? '').split('; ')
    const { port } = new URL(server.url)
    expect(name).toMatch(new RegExp(`^nanoclaw_session_${port}=`))
    expect(attributes.toSorted()).toEqual([
      'HttpOnly',
      'Max-Age=2592000',
      'Path=/api/auth',
      'SameSite=Strict',
    ])
    expect(JSON.stringify(json)).not.toContain(name?.split('=')[1])
    const proxied = await start({ ...multi, public_url: 'https://chat.example', host: '127.0.0.1' })
    const link = proxied.server.setupPath?.split('#')[1]
    const secure = await proxied.call('POST', '/api/auth/register', {
      body: { ...person('ada'), link, cookie: true },
    })
    expect(secure.headers.get('set-cookie')).toContain('; Secure')
  })

  test('the cookie renews the session, and programs get a token for seven days without one', async () => {
    await register(server, 'bob')
    const program = await login('bob')
    expect(program.headers.get('set-cookie')).toBeNull()
    expect(program.json.data.expires_in).toBe(7 * 24 * 60 * 60)
    const first = cookieOf((await login('bob', { cookie: true })).headers)
    const renewed = await refresh(first)
    expect(renewed.json.data.user.username).toBe('bob')
    expect(await statusOf(renewed.json.data.token)).toBe(200)
    const second = cookieOf(renewed.headers)
    expect(second).not.toBe(first)
    // Another tab sent the same cookie at the same time: both get the same new one.
    const again = await refresh(first)
    expect([again.status, cookieOf(again.headers)]).toEqual([200, second])
    expect((await refresh(second)).status).toBe(200)
  })

  test('a cookie that is missing, invented or sent by another origin renews nothing', async () => {
    await register(server, 'cy')
    const { headers } = await login('cy', { cookie: true })
    const cookie = cookieOf(headers)
    const [name = '', id = '', generation = '', signature = ''] = cookie.split(/[=.]/)
    for (const forged of [
      '',
      `${name}=x`,
      `${name}=${id}.${Number(generation) + 1}.${signature}`,
      `${name}=${id}.${generation}.${'A'.repeat(43)}`,
    ])
      expect((await refresh(forged)).status).toBe(401)
    expect((await refresh(cookie, { origin: 'http://evil.example' })).status).toBe(403)
    expect((await refresh(cookie, { 'sec-fetch-site': 'same-site' })).status).toBe(403)
    expect((await refresh(cookie)).status).toBe(200)
  })

  test('sessions are listed with device and last use, and one is ended at once with its stream', async () => {
    await register(server, 'dan')
    const here = await tokenOf('dan')
    const there = (await login('dan', {}, { 'user-agent': 'Somewhere/1.0' })).json.data.token
    const list = async () =>
      (await server.call('GET', '/api/auth/sessions', { token: here })).json.data.items
    const found = (await list()).find(({ user_agent: agent }: { user_agent: string }) =>
      agent.startsWith('Somewhere'),
    )
    expect(found).toMatchObject({ kind: 'token', current: false, address: '127.0.0.1' })
    expect((await list()).filter(({ current }: { current: boolean }) => current)).toHaveLength(1)
    const [own, other] = [await openStream(here), await openStream(there)]
    const stranger = await register(server, 'danny')
    const end = (token: string) =>
      server.call('DELETE', `/api/auth/sessions/${found.id}`, { token })
    expect((await end(stranger)).status).toBe(404)
    expect((await end(here)).status).toBe(200)
    await other.ended
    expect([await statusOf(here), await statusOf(there)]).toEqual([200, 401])
    // An administrator sees the sessions of others, too, and ends one.
    const admin = await tokenOf('admin')
    const danger = (await login('dan', {}, { 'user-agent': 'Thief/1.0' })).json.data.token
    const { id: dan } = (await server.call('GET', '/api/auth/profile', { token: here })).json.data
    const path = `/api/admin/users/${dan}/sessions`
    const seen = (await server.call('GET', path, { token: admin })).json.data.items
    expect(seen).toHaveLength(3)
    expect(seen[0]).toMatchObject({ user_agent: 'Thief/1.0', kind: 'token', current: false })
    expect(Date.parse(seen[0].last_used_at)).toBeGreaterThanOrEqual(Date.parse(found.created_at))
    const stolen = await openStream(danger)
    const endOther = (token: string, session: string) =>
      server.call('DELETE', `${path}/${session}`, { token })
    expect((await server.call('GET', path, { token: here })).status).toBe(403)
    expect((await endOther(here, seen[0].id)).status).toBe(403)
    expect((await endOther(admin, found.id)).status).toBe(404)
    expect((await endOther(admin, seen[0].id)).status).toBe(200)
    await stolen.ended
    expect([await statusOf(here), await statusOf(danger)]).toEqual([200, 401])
    expect((await server.call('DELETE', '/api/auth/sessions', { token: here })).status).toBe(200)
    expect(await list()).toHaveLength(1)
    // The stream of the session that ended the others is still open: signing out ends it.
    expect(await Promise.race([own.ended.then(() => 'ended'), Promise.resolve('open')])).toBe(
      'open',
    )
    expect((await server.call('POST', '/api/auth/logout', { token: here })).status).toBe(200)
    await own.ended
    expect(await statusOf(here)).toBe(401)
  })

  test('a new password ends the streams and cookies of other sessions, and not those of keys', async () => {
    const token = await register(server, 'eve')
    const page = await login('eve', { cookie: true })
    const { key } = (
      await server.call('POST', '/api/auth/keys', { token, body: { name: 'script' } })
    ).json.data
    const stream = await openStream(page.json.data.token)
    const ofKey = await openStream(key)
    await server.call('PATCH', '/api/auth/profile', {
      token,
      body: { password: 'another password', current_password: 'a good password' },
    })
    await stream.ended
    expect((await refresh(cookieOf(page.headers))).status).toBe(401)
    expect([await statusOf(token), await statusOf(key)]).toEqual([200, 200])
    const { items } = (await server.call('GET', '/api/auth/keys', { token })).json.data
    await server.call('DELETE', `/api/auth/keys/${items[0].id}`, { token })
    await ofKey.ended
    expect(await statusOf(key)).toBe(401)
  })

  test('disabling an account ends its sessions for good, also when it is enabled again', async () => {
    const admin = await tokenOf('admin')
    const { token, user } = (
      await server.call('POST', '/api/auth/register', { body: person('fay') })
    ).json.data
    const cookie = cookieOf((await login('fay', { cookie: true })).headers)
    const set = (body: object) =>
      server.call('PATCH', `/api/admin/users/${user.id}`, { token: admin, body })
    const stream = await openStream(token)
    await set({ is_active: false })
    await stream.ended
    expect((await refresh(cookie)).status).toBe(401)
    // Whoever was signed in, or knows the password, learns why; anybody else learns nothing.
    const disabled = { status: 401, json: { reason: 'account_disabled' } }
    expect(await server.call('GET', '/api/auth/profile', { token })).toMatchObject(disabled)
    expect(await login('fay')).toMatchObject(disabled)
    expect(
      await server.call('POST', '/api/auth/login', {
        body: { username: 'fay', password: 'a wrong password' },
      }),
    ).toMatchObject({ status: 401, json: { reason: 'wrong_credentials' } })
    await set({ is_active: true })
    expect([await statusOf(token), (await refresh(cookie)).status]).toEqual([401, 401])
    expect((await login('fay')).status).toBe(200)
  })

  describe('an API key', () => {
    let token = ''
    let admin = ''
    beforeAll(async () => {
      admin = await tokenOf('admin')
      token = await register(server, 'gus')
    })
    const keyWith = async (settings: object, owner = token): Promise<string> =>
      (
        await server.call('POST', '/api/auth/keys', {
          token: owner,
          body: { name: 'k', ...settings },
        })
      ).json.data.key

    test('cannot create keys or end sessions', async () => {
      const key = await keyWith({})
      for (const [method, path] of [
        ['POST', '/api/auth/keys'],
        ['DELETE', '/api/auth/sessions'],
        ['DELETE', '/api/auth/sessions/x'],
      ] as const) {
        const body = method === 'POST' ? { name: 'child' } : undefined
        const { json } = await server.call(method, path, { token: key, body })
        expect(json).toMatchObject({ code: 403, reason: 'api_key_not_allowed' })
      }
    })

    test.each([
      [['read'], [200, 403, 403]],
      [['api'], [200, 200, 403]],
      [['admin'], [200, 200, 200]],
      [['v1'], [403, 403, 403]],
      [null, [200, 200, 200]],
    ])(
      'with the scopes %j gets the statuses %j for reading, writing and administering',
      async (scopes, expected) => {
        const key = await keyWith({ scopes }, admin)
        const statuses = [
          await server.call('GET', '/api/conversations', { token: key }),
          await server.call('POST', '/api/conversations', { token: key, body: {} }),
          await server.call('GET', '/api/admin/users', { token: key }),
        ].map(({ status }) => status)
        expect(statuses).toEqual(expected)
      },
    )

    test('cannot administer for a user, and expires', async () => {
      const key = await keyWith({ scopes: ['admin'] })
      expect((await server.call('GET', '/api/admin/users', { token: key })).status).toBe(403)
      const past = await server.call('POST', '/api/auth/keys', {
        token,
        body: { name: 'late', expires_at: new Date(Date.now() - 1000).toISOString() },
      })
      expect(past.json).toMatchObject({ code: 400, reason: 'api_key_expiry_past' })
      // Long enough for the first request on a busy machine.
      const expires = new Date(Date.now() + 5_000).toISOString()
      const brief = await keyWith({ expires_at: expires })
      expect(await statusOf(brief)).toBe(200)
      await expect.poll(() => statusOf(brief)).toBe(401)
    })
  })
})

describeOnEachDatabase('refresh tokens', (open) => {
  test('a replaced token is accepted for half a minute; after that it ends the session', async () => {
    const store = createStore(await open())
    let time = Date.now()
    const closed: string[] = []
    const secrets = ['the current secret']
    const sessions = createSessions({
      sessions: store.sessions,
      audit: store.audit,
      refreshTokens: createRefreshTokens(() => secrets),
      closeRequests: (_user, id) => closed.push(id),
      onError: (error) => {
        throw error
      },
      now: () => new Date(time),
    })
    const user = await somebody(store)
    const begin = () => sessions.begin(user, 'page', { userAgent: 'x', address: '::1' }, {})
    const { session, refreshToken } = await begin()
    const first = refreshToken ?? ''
    const second = (await sessions.refresh(first, '::1')).refreshToken
    time += 29_000
    expect((await sessions.refresh(first, '::1')).refreshToken).toBe(second)
    // Tokens signed with the former secret are still accepted.
    secrets.unshift('the next secret')
    const third = (await sessions.refresh(second, '::1')).refreshToken
    time += 31_000
    await expect(sessions.refresh(second, '::2')).rejects.toMatchObject({ reason: 'session_ended' })
    await expect(sessions.refresh(third, '::1')).rejects.toMatchObject({ reason: 'session_ended' })
    expect(closed).toEqual([session.id])
    const { items } = await store.audit.list({ action: 'session_reused' }, { limit: 10 })
    expect(items).toMatchObject([
      { userId: user.id, address: '::2', details: { session: session.id } },
    ])

    // Unused for a month, it ends by itself; a disabled account or an ended version begins none.
    const late = (await begin()).refreshToken ?? ''
    time += 31 * 24 * 60 * 60_000
    await expect(sessions.refresh(late, '::1')).rejects.toMatchObject({ reason: 'session_ended' })
    await begin()
    expect(await sessions.list(user.id)).toHaveLength(1)
    await store.users.update(user.id, { endSessions: true })
    await expect(begin()).rejects.toMatchObject({ reason: 'session_ended' })
    expect(await sessions.list(user.id)).toEqual([])
  })
})
