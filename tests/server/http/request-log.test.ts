// What the log says about refused requests and failed sign-ins.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

describeOnEachServer('the log', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({ auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })
    await register(server, 'ada')
  })
  const lines = () =>
    server
      .logged()
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const login = (username: string) =>
    server.call('POST', '/api/auth/login', {
      body: { username, password: 'not the password' },
    })

  test('has a warning with the address and the account for each failed sign-in, but no name that is no account', async () => {
    const { headers } = await login('ADA')
    await login('my password by mistake')
    const byName = server.url.replace('127.0.0.1', 'localhost')
    const post = async (path: string, body: object) =>
      (
        await fetch(byName + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json()
    const { challenge } = Challenged.parse(await post('/api/auth/passkeys/options', {})).data
    await post('/api/auth/passkeys/sign-in', { challenge, response: unknownPasskey })
    const warnings = () => lines().filter(({ msg }) => msg === 'sign-in failed')
    await expect.poll(() => warnings().length).toBe(3)
    expect(warnings()).toMatchObject([
      {
        level: 40,
        address: '127.0.0.1',
        account: 'ada',
        request_id: headers.get('x-request-id'),
      },
      { level: 40, address: '127.0.0.1', account: null },
      { level: 40, address: expect.stringMatching(/127\.0\.0\.1|::1/), account: null },
    ])
    expect(server.logged()).not.toContain('by mistake')
    // The format that the filter in docs/operations.md reads.
    expect(server.logged()).toMatch(
      /^\{"level":40,"time":\d+,"request_id":"[^"]*","address":"127\.0\.0\.1","account":"ada","msg":"sign-in failed"\}$/m,
    )
  })

  test('has a line with the reason and the address for each refused request', async () => {
    const { headers } = await server.call('GET', '/api/conversations', {
      token: 'nc-guessed-key-0000000000',
    })
    const refused = () => lines().filter(({ request_id: id }) => id === headers.get('x-request-id'))
    await expect.poll(refused).toMatchObject([
      {
        level: 30,
        method: 'GET',
        path: '/api/conversations',
        status: 401,
        reason: 'api_key_invalid',
        address: '127.0.0.1',
        msg: 'request refused',
      },
    ])
  })
})

const Challenged = z.object({ data: z.object({ challenge: z.string() }) })

const unknownPasskey = {
  id: 'AAAA',
  rawId: 'AAAA',
  type: 'public-key',
  clientExtensionResults: {},
  response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
}
