// Many concurrent requests to the account routes: every limit and rule holds in whatever order they are served.
import { connect } from 'node:net'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { SEED } from '../../support/random.ts'
import {
  describeOnEachServer,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, public_url: 'http://chat.example' }
const FULL = process.env.FAULTS === 'full'
const person = (username: string) => ({ username, password: 'a good password' })

/** The headers of a request that the proxy forwards for a client at this address. */
const from = (address: string) => ({ 'x-forwarded-for': address })

/** How often each status occurred. */
const tally = (statuses: readonly number[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describeOnEachServer('floods of the accounts', (start) => {
  const login = (server: TestServer, username: string, password: string, address: string) =>
    server.call('POST', '/api/auth/login', { body: { username, password }, headers: from(address) })
  const setUp = new WeakSet<TestServer>()
  /** The first account of a server is registered with its setup link. */
  const register = async (server: TestServer, name: string, address = '10.9.0.1') => {
    const link = setUp.has(server) ? undefined : server.server.setupPath?.split('#')[1]
    setUp.add(server)
    const body = { ...person(name), ...(link === undefined ? {} : { link }) }
    return (await server.call('POST', '/api/auth/register', { body, headers: from(address) })).json
      .data
  }
  /** For tests that have an account of their own. */
  let shared: TestServer
  beforeAll(async () => {
    shared = await start(multi)
  })
  const own: TestServer[] = []
  /** Starts a server for one test. It ends with the test: after a flood, each holds ten connections of PostgreSQL. */
  const startOwn: typeof start = async (...options) => {
    const server = await start(...options)
    own.push(server)
    return server
  }
  afterEach(async () => {
    for (const server of own.splice(0)) await server.close()
  })

  test('300 simultaneous wrong passwords cost ten attempts, and the owner can sign in from another address meanwhile', async () => {
    const server = await startOwn(multi, { realPasswords: true })
    await register(server, 'ann')
    const flood = Array.from({ length: 300 }, (_, n) =>
      login(server, 'ann', `wrong ${n}`, '10.0.0.1'),
    )
    const owner = login(server, 'ANN', 'a good password', '10.0.0.2')
    const responses = await Promise.all(flood)
    expect(tally(responses.map(({ status }) => status))).toEqual({ 401: 10, 429: 290 })
    for (const { status, headers } of responses)
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await owner).status).toBe(200)
    expect((await login(server, 'ann', 'a good password', '10.0.0.1')).status).toBe(429)
  })

  test('simultaneous sign-ins with the correct password use up no attempts', async () => {
    await register(shared, 'eve')
    for (let round = 0; round < 3; round += 1) {
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => login(shared, 'eve', 'a good password', '10.0.0.1')),
      )
      expect(tally(responses.map(({ status }) => status))).toEqual({ 200: 8 })
    }
  })

  test('a flood of sign-ins from many addresses returns 503 instead of making everybody wait', async () => {
    const server = await startOwn(multi, { realPasswords: true })
    await register(server, 'ann')
    const responses = await Promise.all(
      Array.from({ length: 120 }, (_, n) => login(server, `nobody-${n}`, 'wrong', `10.1.0.${n}`)),
    )
    const counts = tally(responses.map(({ status }) => status))
    expect(Object.keys(counts).filter((status) => !['401', '503'].includes(status))).toEqual([])
    expect(counts[503]).toBeGreaterThan(0)
    const refused = responses.find(({ status }) => status === 503)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    // A request that was refused with 503 does not count as a failed attempt.
    expect((await login(server, 'ann', 'a good password', '10.1.0.119')).status).toBe(200)
  })

  test('100 simultaneous password changes with a wrong current password cost ten attempts', async () => {
    const { token } = await register(shared, 'fay')
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        shared.call('PATCH', '/api/auth/profile', {
          token,
          body: { password: 'another password', current_password: `wrong ${n}` },
        }),
      ),
    )
    expect(tally(responses.map(({ status }) => status))).toEqual({ 403: 10, 429: 90 })
    expect((await login(shared, 'fay', 'a good password', '10.0.0.1')).status).toBe(200)
  })

  test('of two concurrent password changes, one succeeds and the other is refused', async () => {
    const { token } = await register(shared, 'gus')
    const passwords = ['the first password', 'the second password']
    const responses = await Promise.all(
      passwords.map((password) =>
        shared.call('PATCH', '/api/auth/profile', {
          token,
          body: { password, current_password: 'a good password' },
        }),
      ),
    )
    const statuses = responses.map(({ status }) => status)
    // They may also run one after the other: then the current password of the second is wrong.
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => ![200, 403, 409].includes(status))).toEqual([])
    const opens = await Promise.all(
      passwords.map(async (password) => (await login(shared, 'gus', password, '10.0.0.1')).status),
    )
    expect(opens).toEqual(statuses.map((status) => (status === 200 ? 200 : 401)))
  })

  test('an address cannot register more accounts than allowed, however many it requests at once', async () => {
    const server = await startOwn({ ...multi, limits: { registrations_per_hour: 5 } })
    await register(server, 'first', '10.9.0.9')
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        server.call('POST', '/api/auth/register', {
          body: person(`person-${n}`),
          headers: from(`2001:db8:1:2::${n.toString(16)}`),
        }),
      ),
    )
    expect(tally(responses.map(({ status }) => status))).toEqual({ 200: 5, 429: 55 })
    const elsewhere = await register(server, 'elsewhere', '2001:db8:1:3::1')
    expect(elsewhere.user.role).toBe('user')
  })

  test('a user has at most fifty keys, however many are requested at once, and a new password revokes them on request', async () => {
    const { token } = await register(shared, 'ida')
    const responses = await Promise.all(
      Array.from({ length: 70 }, (_, n) =>
        shared.call('POST', '/api/auth/keys', { token, body: { name: `key ${n}` } }),
      ),
    )
    expect(tally(responses.map(({ status }) => status))).toEqual({ 200: 50, 409: 20 })
    const key = responses.find(({ status }) => status === 200)?.json.data.key
    const change = (body: object) => shared.call('PATCH', '/api/auth/profile', { token, body })
    const kept = await change({ password: 'password no. 2', current_password: 'a good password' })
    expect(kept.json.data).toMatchObject({ username: 'ida', api_keys: 50 })
    expect((await shared.call('GET', '/api/auth/profile', { token: key })).status).toBe(200)
    const revoked = await change({
      password: 'password no. 3',
      current_password: 'password no. 2',
      revoke_keys: true,
    })
    expect(revoked.json.data).toMatchObject({ api_keys: 0 })
    expect((await shared.call('GET', '/api/auth/profile', { token: key })).status).toBe(401)
  })

  test(`one administrator who can sign in always remains, however administrators demote and disable each other (SEED=${SEED})`, async () => {
    // The user of single mode is an administrator without a password and does not count.
    const single = await startOwn({ auth_mode: 'single' })
    const place = {
      data_dir: single.server.config.data_dir,
      db_type: single.server.config.db_type,
      ...(single.server.config.db_sqlite_file === undefined
        ? { database_url: single.server.config.database_url }
        : { db_sqlite_file: single.server.config.db_sqlite_file }),
    }
    await single.close()
    const server = await startOwn({ ...multi, ...place })
    const first = await register(server, 'admin-0')
    let state = SEED
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return state % below
    }
    const admins = [first, await register(server, 'admin-1'), await register(server, 'admin-2')]
    const patch = (by: number, whom: number, body: object) =>
      server.call('PATCH', `/api/admin/users/${admins[whom].user.id}`, {
        token: admins[by].token,
        body,
      })
    const usable = async (): Promise<number[]> => {
      const statuses = admins.map(({ token }) => server.call('GET', '/api/admin/users', { token }))
      return (await Promise.all(statuses)).flatMap(({ status }, number) =>
        status === 200 ? [number] : [],
      )
    }
    for (const whom of [1, 2]) expect((await patch(0, whom, { role: 'admin' })).status).toBe(200)
    for (let round = 0; round < (FULL ? 100 : 3); round += 1) {
      const changes = Array.from({ length: 6 }, () => {
        const body = random(2) === 0 ? { role: 'user' } : { is_active: false }
        return patch(random(3), random(3), body)
      })
      const responses = await Promise.all(changes)
      expect(responses.filter(({ status }) => ![200, 401, 403, 409].includes(status))).toEqual([])
      expect((await usable()).length, `SEED=${SEED}, round ${round}`).toBeGreaterThan(0)
      // Who loses access gets a 401 for requests in progress, which may still take effect: also on who restores the others.
      await expect
        .poll(async () => {
          const [healer = 0] = await usable()
          const statuses: number[] = []
          for (const whom of [0, 1, 2])
            statuses.push((await patch(healer, whom, { role: 'admin', is_active: true })).status)
          return statuses
        })
        .toEqual([200, 200, 200])
      // Disabling an account ends its sessions.
      for (const admin of admins) {
        const signedIn = await server.call('POST', '/api/auth/login', {
          body: { username: admin.user.username, password: 'a good password' },
        })
        admin.token = signedIn.json.data.token
      }
    }
  })

  test('a request without sign-in can only have a small body, and a second Host header is refused', async () => {
    const big = { username: 'ann', password: 'x'.repeat(30_000) }
    for (const path of ['/api/auth/login', '/api/auth/register'])
      expect((await shared.call('POST', path, { body: big })).status).toBe(413)
    expect((await shared.call('POST', '/api/nowhere', { body: '{"broken' })).status).toBe(404)
    const { port, hostname } = new URL(shared.url)
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          'GET /api/auth/mode HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
        ),
      )
      socket.once('data', (bytes) => {
        socket.destroy()
        resolve(bytes.toString())
      })
      socket.once('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('more than one Host')
  })
})
