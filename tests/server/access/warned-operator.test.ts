// What the log, the readiness check and the doctor say about a Redis that is not there and an installation that is open to everybody.
import { expect, test } from 'vitest'
import { openToInternet } from '../../../server/access/open-registration.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { registrationReach } from '../../../server/config/settings.ts'
import { TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'

const { start } = useServers()

test('a Redis that is unreachable from the start, and registration that is open to the internet, are in the log, the readiness check and the doctor', async () => {
  const server = await start({
    dialect: 'postgres',
    config: {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      public_url: 'https://chat.example.org',
      redis_url: 'redis://127.0.0.1:1',
    },
  })
  await expect.poll(server.logged).toContain('Redis is not reachable since the start')
  expect(server.logged()).toContain('Everybody who can reach this server can create an account')
  const ready = await server.call('GET', '/readyz')
  expect(ready).toMatchObject({ status: 200, json: { data: { redis: 'unavailable' } } })

  const link = server.server.setupPath?.split('#')[1]
  const account = { username: 'ada', password: 'a good password', link }
  const { token } = (await server.call('POST', '/api/auth/register', { body: account })).json.data
  const findings = async (): Promise<{ code: string; state: string; params: object }[]> =>
    (await server.call('GET', '/api/admin/health', { token })).json.data.items
  const found = await findings()
  expect(found.find(({ code }) => code === 'redis_broken')).toMatchObject({
    state: 'fail',
    params: { host: '127.0.0.1:1', reason: expect.stringContaining('ECONNREFUSED') },
  })
  expect(found.find(({ code }) => code === 'registration_open')).toMatchObject({
    state: 'warn',
    params: { host: 'chat.example.org' },
  })
  await server.call('PATCH', '/api/admin/settings', { token, body: { registration: 'invite' } })
  expect((await findings()).map(({ code }) => code)).not.toContain('registration_open')
})

test.each([
  ['https://chat.example.org', {}, 'chat.example.org'],
  ['https://8.8.8.8:8443', {}, '8.8.8.8:8443'],
  ['https://chat.example.org', { registration: 'invite' }, null],
  ['https://chat.example.org', { auth_mode: 'single' }, null],
  ['http://192.168.1.5:3000', {}, null],
  ['http://[fd00::1]', {}, null],
  ['http://nas.lan', {}, null],
  ['http://server', {}, null],
])('registration at %s with %j is open to %s on the internet', (public_url, keys, host) => {
  const config = parseConfig(
    JSON.stringify({ auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, public_url, ...keys }),
    {},
  )
  expect(openToInternet(registrationReach(config), config.registration)).toBe(host)
})
