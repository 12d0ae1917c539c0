// Whose word on a client's address is believed: only that of named proxies.
import { afterEach, expect, test } from 'vitest'
import { type App, createApp } from '../../../server/http/app.ts'
import { describeOnEachServer, TEST_JWT_SECRET } from '../../support/server/server.ts'

let app: App | undefined
afterEach(async () => {
  await app?.close()
  app = undefined
})

/** The address that the server sees in a request over a connection from `remoteAddress`. */
async function addressSeen(
  trustedProxies: readonly string[],
  remoteAddress: string,
  forwardedFor: string,
): Promise<string> {
  app ??= createApp({ bodyLimit: 10_000, trustedProxies }).get('/ip', async ({ ip }) => ip) as App
  const headers = { 'x-forwarded-for': forwardedFor }
  return (await app.inject({ url: '/ip', remoteAddress, headers })).body
}

test('a client in a private network cannot choose its address by X-Forwarded-For', async () => {
  for (const client of ['10.0.0.8', '192.168.1.4', '172.17.0.1', 'fd00::8', '203.0.113.5'])
    expect(await addressSeen(['127.0.0.0/8', '10.0.0.7'], client, '198.51.100.1')).toBe(client)
})

test('behind named proxies, the client is the last address that no proxy added for another proxy', async () => {
  const seen = (forwardedFor: string) =>
    addressSeen(['10.0.0.7', '127.0.0.0/8', '::1/128'], '::ffff:10.0.0.7', forwardedFor)
  expect(await seen('198.51.100.1')).toBe('198.51.100.1')
  expect(await seen('invented, 198.51.100.1')).toBe('198.51.100.1')
  expect(await seen('198.51.100.1, 127.0.0.1')).toBe('198.51.100.1')
  expect(await seen('203.0.113.1, 198.51.100.1, 127.0.0.1')).toBe('198.51.100.1')
})

describeOnEachServer('guesses of a client that invents addresses', (start) => {
  const multi = {
    auth_mode: 'multi',
    jwt_secret: TEST_JWT_SECRET,
    public_url: 'http://chat.example',
  }

  test('ten wrong passwords exhaust its attempts, whatever addresses it claims, and the log names the unknown proxy once', async () => {
    const server = await start({ ...multi, trusted_proxies: ['10.0.0.7', '192.0.2.0/24'] })
    const statuses: number[] = []
    for (let guess = 0; guess < 14; guess += 1) {
      const { status } = await server.call('POST', '/api/auth/login', {
        body: { username: `somebody-${guess}`, password: 'wrong password' },
        headers: { 'x-forwarded-for': `198.51.100.${guess}` },
      })
      statuses.push(status)
    }
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)])
    expect(server.logged().match(/is not in trusted_proxies/g)).toHaveLength(1)
  })

  test('a proxy on the same machine is trusted once public_url is set', async () => {
    const server = await start(multi)
    for (let guess = 0; guess < 12; guess += 1)
      expect(
        (
          await server.call('POST', '/api/auth/login', {
            body: { username: `somebody-${guess}`, password: 'wrong password' },
            headers: { 'x-forwarded-for': `198.51.100.${guess}` },
          })
        ).status,
      ).toBe(401)
  })
})
