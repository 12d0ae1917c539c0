// Signing in over real HTTP, on both databases.
import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  describeOnEachServer,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }
const person = (username: string) => ({ username, password: 'a good password' })

describeOnEachServer('accounts', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start(multi)
  })
  const register = async (username: string): Promise<string> =>
    (await server.call('POST', '/api/auth/register', { body: person(username) })).json.data.token

  test('exactly one of several users who register first at the same time becomes administrator', async () => {
    const responses = await Promise.all(
      ['one', 'two', 'three', 'four'].map((name) =>
        server.call('POST', '/api/auth/register', { body: person(name) }),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const roles = responses.map(({ json }) => json.data.user.role).sort()
    expect(roles).toEqual(['admin', 'user', 'user', 'user'])
    expect(JSON.stringify(responses)).not.toContain('argon2')
  })

  test('a user name is unique regardless of case, also for concurrent registrations', async () => {
    const responses = await Promise.all(
      ['Twin', 'twin'].map((name) =>
        server.call('POST', '/api/auth/register', { body: person(name) }),
      ),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test.each([
    [{ username: 'x', password: 'a good password' }],
    [{ username: 'x'.repeat(51), password: 'a good password' }],
    [{ username: 'ann', password: 'short' }],
    [{ username: 'ann' }],
    [{ username: 1, password: 'a good password' }],
    [{ username: 'ann', password: 'a good password', email: 'nobody' }],
    [{}],
  ])('the registration %j returns 400', async (body) => {
    expect((await server.call('POST', '/api/auth/register', { body })).status).toBe(400)
  })

  test('a role in the body is ignored', async () => {
    const { json } = await server.call('POST', '/api/auth/register', {
      body: { ...person('climber'), role: 'admin', is_active: false },
    })
    expect(json.data.user).toMatchObject({ role: 'user', is_active: true })
  })

  test('a wrong password and an unknown user get the same response', async () => {
    await register('carol')
    const wrong = await server.call('POST', '/api/auth/login', {
      body: { username: 'carol', password: 'wrong' },
    })
    const unknown = await server.call('POST', '/api/auth/login', {
      body: { username: 'nobody', password: 'wrong' },
    })
    expect(wrong.status).toBe(401)
    expect(unknown.json).toEqual({ ...wrong.json, request_id: expect.any(String) })
  })

  test('the token of a login gives access to the profile, and a logout revokes only that token', async () => {
    await register('dora')
    const login = async (): Promise<string> =>
      (await server.call('POST', '/api/auth/login', { body: person('Dora') })).json.data.token
    const [first, second] = [await login(), await login()]
    const profile = await server.call('GET', '/api/auth/profile', { token: first })
    expect(profile.json.data).toMatchObject({ username: 'dora', is_active: true })
    expect(profile.headers.get('cache-control')).toBe('no-store')
    expect((await server.call('POST', '/api/auth/logout', { token: first })).status).toBe(200)
    expect((await server.call('GET', '/api/auth/profile', { token: first })).status).toBe(401)
    expect((await server.call('GET', '/api/auth/profile', { token: second })).status).toBe(200)
  })

  test('a password change needs the current password and revokes all other tokens', async () => {
    const first = await register('eve')
    const second = (await server.call('POST', '/api/auth/login', { body: person('eve') })).json.data
      .token
    const change = (body: object) =>
      server.call('PATCH', '/api/auth/profile', { token: first, body })
    expect((await change({ password: 'another password' })).status).toBe(400)
    expect((await change({ password: 'another password', current_password: 'no' })).status).toBe(
      403,
    )
    expect(
      (await change({ password: 'another password', current_password: 'a good password' })).status,
    ).toBe(200)
    expect((await server.call('GET', '/api/auth/profile', { token: first })).status).toBe(200)
    expect((await server.call('GET', '/api/auth/profile', { token: second })).status).toBe(401)
    const login = (password: string) =>
      server.call('POST', '/api/auth/login', { body: { username: 'eve', password } })
    expect((await login('a good password')).status).toBe(401)
    expect((await login('another password')).status).toBe(200)
  })

  test('the profile takes an email address, and null clears it', async () => {
    const token = await register('faye')
    const patch = async (body: object) =>
      (await server.call('PATCH', '/api/auth/profile', { token, body })).json
    expect((await patch({ email: 'faye@example.org', role: 'admin' })).data).toMatchObject({
      email: 'faye@example.org',
      role: 'user',
    })
    expect((await patch({})).data.email).toBe('faye@example.org')
    expect((await patch({ email: null })).data.email).toBeNull()
    expect((await patch({ email: 'x' })).code).toBe(400)
  })

  test('an API key is shown once and works like a token until it is deleted', async () => {
    const token = await register('gail')
    const created = await server.call('POST', '/api/auth/keys', { token, body: { name: 'script' } })
    const { key, id } = created.json.data
    expect(key).toMatch(/^nc-/)
    const list = await server.call('GET', '/api/auth/keys', { token: key })
    expect(list.json.data.items).toMatchObject([{ id, name: 'script' }])
    expect(JSON.stringify(list.json)).not.toContain(key)
    const foreign = await register('hugo')
    expect((await server.call('DELETE', `/api/auth/keys/${id}`, { token: foreign })).status).toBe(
      404,
    )
    expect((await server.call('DELETE', `/api/auth/keys/${id}`, { token })).status).toBe(200)
    expect((await server.call('GET', '/api/auth/keys', { token: key })).status).toBe(401)
  })

  test('tokens and keys of a disabled account are refused at once', async () => {
    const users = await server.call('POST', '/api/auth/register', { body: person('ivan') })
    const { token, user } = users.json.data
    const { key } = (await server.call('POST', '/api/auth/keys', { token, body: { name: 'k' } }))
      .json.data
    for (const name of ['one', 'two', 'three', 'four']) {
      const login = await server.call('POST', '/api/auth/login', { body: person(name) })
      const patch = await server.call('PATCH', `/api/admin/users/${user.id}`, {
        token: login.json.data.token,
        body: { is_active: false },
      })
      expect(patch.status).toBe(login.json.data.user.role === 'admin' ? 200 : 403)
    }
    expect((await server.call('GET', '/api/auth/profile', { token })).status).toBe(401)
    expect((await server.call('GET', '/api/auth/profile', { token: key })).status).toBe(401)
    expect((await server.call('POST', '/api/auth/login', { body: person('ivan') })).status).toBe(
      401,
    )
  })
})

describe('tokens', () => {
  const { start } = useServers()
  let server: TestServer
  let token = ''
  beforeAll(async () => {
    server = await start({ config: multi })
    token = (await server.call('POST', '/api/auth/register', { body: person('ann') })).json.data
      .token
  })

  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = () => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const sign = (header: object, payload: object, secret = TEST_JWT_SECRET, digest = 'sha256') => {
    const text = `${part(header)}.${part(payload)}`
    return `${text}.${createHmac(digest, secret).update(text).digest('base64url')}`
  }
  const statusOf = async (bearer: string) =>
    (await server.call('GET', '/api/auth/profile', { headers: { authorization: bearer } })).status
  const header = { alg: 'HS256', typ: 'JWT' }
  const now = () => Math.floor(Date.now() / 1000)

  test('are valid for seven days', () => {
    const { iat, exp } = claims()
    expect(exp - iat).toBe(7 * 24 * 60 * 60)
  })

  test('are accepted with the signature of the server', async () => {
    expect(await statusOf(`Bearer ${sign(header, claims())}`)).toBe(200)
  })

  test.each([
    ['no algorithm', () => `${part({ alg: 'none', typ: 'JWT' })}.${part(claims())}.`],
    [
      'another algorithm',
      () => sign({ alg: 'HS512', typ: 'JWT' }, claims(), TEST_JWT_SECRET, 'sha512'),
    ],
    ['another secret', () => sign(header, claims(), 'another-secret-of-the-tests-0123456789')],
    ['another audience', () => sign(header, { ...claims(), aud: 'elsewhere' })],
    ['no audience', () => sign(header, { ...claims(), aud: undefined })],
    ['no expiry', () => sign(header, { ...claims(), exp: undefined })],
    ['another type', () => sign({ alg: 'HS256', typ: 'at+jwt' }, claims())],
    ['another kind', () => sign(header, { ...claims(), kind: 'refresh' })],
    ['expired five minutes ago', () => sign(header, { ...claims(), exp: now() - 300 })],
    ['issued in five minutes', () => sign(header, { ...claims(), iat: now() + 300 })],
    ['not valid for five minutes yet', () => sign(header, { ...claims(), nbf: now() + 300 })],
    ['another version', () => sign(header, { ...claims(), version: 7, jti: 'x' })],
    ['an unknown user', () => sign(header, { ...claims(), sub: 'nobody' })],
    ['an overlong id', () => sign(header, { ...claims(), sub: 'x'.repeat(1000) })],
    [
      'a changed payload',
      () => token.replace(/\.(.)/, (_all, first) => `.${first === 'e' ? 'f' : 'e'}`),
    ],
  ])('are refused with 401: %s', async (_name, make) => {
    expect(await statusOf(`Bearer ${make()}`)).toBe(401)
  })

  test('are accepted when clocks differ by half a minute', async () => {
    expect(await statusOf(`Bearer ${sign(header, { ...claims(), exp: now() - 10 })}`)).toBe(200)
    expect(await statusOf(`Bearer ${sign(header, { ...claims(), iat: now() + 20 })}`)).toBe(200)
  })

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'Bearer a b',
    `Bearer nc-${'x'.repeat(40)}`,
    'Bearer x',
  ])('are refused with 401 in the header %j', async (value) =>
    expect(await statusOf(value)).toBe(401),
  )
})

describe('signing in and registering', () => {
  const { start } = useServers()

  test('ten failures make an address wait for the time in Retry-After', async () => {
    const server = await start({ config: multi })
    await server.call('POST', '/api/auth/register', { body: person('ann') })
    const attempt = (password: string) =>
      server.call('POST', '/api/auth/login', { body: { username: 'ann', password } })
    for (let count = 0; count < 9; count += 1) expect((await attempt('wrong')).status).toBe(401)
    expect((await attempt('a good password')).status).toBe(200)
    expect((await attempt('wrong')).status).toBe(401)
    const refused = await attempt('wrong')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('closed registration admits only the first user', async () => {
    const server = await start({ config: { ...multi, registration: 'closed' } })
    const register = async (name: string) =>
      (await server.call('POST', '/api/auth/register', { body: person(name) })).status
    const mode = async () => (await server.call('GET', '/api/auth/mode')).json.data
    expect(await mode()).toEqual({ mode: 'multi', registration: 'closed', first_user: true })
    expect(await register('first')).toBe(200)
    expect(await register('second')).toBe(403)
    expect(await mode()).toEqual({ mode: 'multi', registration: 'closed' })
  })

  test('in single mode every request belongs to the default user, and signing in returns 403', async () => {
    const server = await start()
    expect((await server.call('GET', '/api/auth/profile')).json.data).toMatchObject({
      username: 'default',
      role: 'admin',
    })
    expect((await server.call('POST', '/api/auth/register', { body: person('ann') })).status).toBe(
      403,
    )
    expect((await server.call('POST', '/api/auth/login', { body: person('ann') })).status).toBe(403)
    expect((await server.call('GET', '/api/auth/mode')).json.data.mode).toBe('single')
    expect((await server.call('GET', '/api/admin/users')).json.data.items).toHaveLength(1)
  })

  test('the first user to register after a change from single to multi mode becomes administrator', async () => {
    const single = await start()
    const file = single.server.config.db_sqlite_file
    await single.close()
    const server = await start({ config: { ...multi, db_sqlite_file: file } })
    const { json } = await server.call('POST', '/api/auth/register', { body: person('ann') })
    expect(json.data.user.role).toBe('admin')
  })
})
