// Second factors: codes of an authenticator app, recovery codes, limits, and who may remove them.
import { get } from 'node:http'
import { Secret, TOTP } from 'otpauth'
import { beforeAll, describe, expect, test } from 'vitest'
import { machineClock } from '../../../server/lib/clocks.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }
const password = 'a good password'

/**
 * The code for setting up the app belongs to the current time step, the one for signing in to the next.
 * Both stay acceptable if a new step starts before the server checks them.
 */
const codeOf = (secret: string, purpose: 'set up' | 'sign in'): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + (purpose === 'set up' ? 0 : 30_000),
  })

const clientOf = (server: TestServer) => {
  const post = (path: string, body: object, token?: string) =>
    server.call('POST', path, { body, token })
  return {
    post,
    login: (username: string) => post('/api/auth/login', { username, password }),
    /** Sets up an authenticator app. */
    async addTotp(token: string) {
      const { secret, uri } = (await post('/api/auth/totp', { current_password: password }, token))
        .json.data
      const confirmed = await post(
        '/api/auth/totp/confirm',
        { code: codeOf(secret, 'set up') },
        token,
      )
      return { secret, uri, codes: confirmed.json.data.recovery_codes as string[] }
    },
    second: (challenge: string, code: string, more: object = {}) =>
      post('/api/auth/login/second-factor', { challenge, code, ...more }),
  }
}

describeOnEachServer('second factors', (start) => {
  let server: TestServer
  let client: ReturnType<typeof clientOf>
  let admin = ''
  beforeAll(async () => {
    server = await start(multi)
    client = clientOf(server)
    admin = await register(server, 'root')
  })

  test('with an authenticator app, the password alone is not enough, and each code works once', async () => {
    const token = await register(server, 'ada')
    const { secret, uri, codes } = await client.addTotp(token)
    expect(uri).toContain('otpauth://totp/NanoClaw:ada?')
    expect(new Set(codes).size).toBe(10)
    const { status, json } = await client.login('ada')
    expect([status, json]).toMatchObject([403, { reason: 'second_factor_required' }])
    expect(json).not.toHaveProperty('data')
    const { challenge, methods } = json.details as { challenge: string; methods: string[] }
    expect(methods).toEqual(['totp', 'recovery_code'])
    const code = codeOf(secret, 'sign in')
    const both = await Promise.all(
      [1, 2].map(() => client.second(challenge, code, { cookie: true })),
    )
    expect(both.map((one) => one.status).sort()).toEqual([200, 401])
    const signedIn = both.find((one) => one.status === 200)
    expect(signedIn?.headers.get('set-cookie')).toContain('nanoclaw_session')
    expect((await client.second(challenge, code)).json).toMatchObject({
      reason: 'second_factor_refused',
    })
    // The code with which the app was set up does not work either: it belongs to an earlier time step.
    expect((await client.second(challenge, codeOf(secret, 'set up'))).status).toBe(401)
    const { items } = (await server.call('GET', '/api/admin/audit?limit=100', { token: admin }))
      .json.data
    const seen = items
      .filter(({ username }: { username: string }) => username === 'ada')
      .map(({ action, details }: { action: string; details: { by?: string } }) => [
        action,
        details.by,
      ])
    expect(seen).toContainEqual(['sign_in', 'totp'])
    expect(seen).toContainEqual(['sign_in_failed', 'second factor'])
    expect(seen.map(([action]: string[]) => action)).toContain('second_factor_added')
    expect(server.logged() + JSON.stringify(items)).not.toContain(secret)
  })

  test('a recovery code replaces the app once, in any spelling, and new codes invalidate the earlier ones', async () => {
    const token = await register(server, 'bob')
    const { codes } = await client.addTotp(token)
    const challenge = async () => (await client.login('bob')).json.details as { challenge: string }
    const typed = codes[0]?.toUpperCase().replaceAll('-', ' ') ?? ''
    expect((await client.second((await challenge()).challenge, typed)).status).toBe(200)
    expect((await client.second((await challenge()).challenge, typed)).status).toBe(401)
    const again = await client.post(
      '/api/auth/recovery-codes',
      { current_password: password },
      token,
    )
    const fresh = again.json.data.recovery_codes
    expect((await client.second((await challenge()).challenge, codes[1] ?? '')).status).toBe(401)
    expect((await client.second((await challenge()).challenge, fresh[1])).status).toBe(200)
    const state = await server.call('GET', '/api/auth/second-factors', { token })
    expect(state.json.data).toEqual({
      totp: true,
      passkeys: [],
      recovery_codes: 9,
      passkeys_available: false,
    })
  })

  test('changing second factors requires the password, and an API key cannot do it', async () => {
    const token = await register(server, 'cy')
    const wrong = { current_password: 'not the password' }
    const right = { current_password: password }
    for (const path of ['totp', 'totp/remove', 'recovery-codes', 'passkeys', 'passkeys/x/remove'])
      expect((await client.post(`/api/auth/${path}`, wrong, token)).json).toMatchObject({
        code: 403,
        reason: 'current_password_wrong',
      })
    const { key } = (await client.post('/api/auth/keys', { name: 'x' }, token)).json.data
    expect((await client.post('/api/auth/totp', right, key)).json).toMatchObject({
      reason: 'api_key_not_allowed',
    })
    const started = await client.post('/api/auth/totp', right, token)
    // Not yet confirmed: it changes nothing.
    expect((await client.login('cy')).status).toBe(200)
    expect(
      (await client.post('/api/auth/totp/confirm', { code: '000000' }, token)).json,
    ).toMatchObject({
      reason: 'second_factor_code_wrong',
    })
    const code = codeOf(started.json.data.secret, 'set up')
    expect((await client.post('/api/auth/totp/confirm', { code }, token)).status).toBe(200)
    expect((await client.post('/api/auth/totp', right, token)).json).toMatchObject({
      reason: 'second_factor_set',
    })
    expect((await client.post('/api/auth/totp/remove', right, token)).status).toBe(200)
    expect((await client.login('cy')).status).toBe(200)
    const state = await server.call('GET', '/api/auth/second-factors', { token })
    expect(state.json.data).toMatchObject({ totp: false, recovery_codes: 0 })
  })

  test('a password link does not bypass the second factor, and an administrator can remove it', async () => {
    const token = await register(server, 'dan')
    await client.addTotp(token)
    const { id } = (await server.call('GET', '/api/auth/profile', { token })).json.data
    const created = await server.call('POST', `/api/admin/users/${id}/reset-link`, { token: admin })
    const reset = await client.post('/api/auth/reset', { link: created.json.data.token, password })
    expect(reset.json).toMatchObject({ reason: 'second_factor_required' })
    const entries = async () =>
      (
        await server.call('GET', `/api/admin/audit?user_id=${id}`, { token: admin })
      ).json.data.items.map(({ action }: { action: string }) => action)
    expect((await entries())[0]).toBe('password_reset')
    const path = `/api/admin/users/${id}/second-factors`
    expect(
      (await server.call('DELETE', path, { token: await register(server, 'eve') })).status,
    ).toBe(403)
    expect((await server.call('DELETE', path, { token: admin })).status).toBe(200)
    expect((await client.login('dan')).status).toBe(200)
  })
})

describe('guessing second factors', () => {
  const { start } = useServers()

  test.each([
    ['https://chat.example.org', true],
    ['http://localhost:3000', true],
    ['http://chat.example.org', undefined],
    ['https://192.0.2.1', undefined],
    ['https://[2001:db8::1]', undefined],
  ])('a page at %s offers passkeys: %s', async (publicUrl, offered) => {
    const server = await start({ config: { ...multi, public_url: publicUrl } })
    expect((await server.call('GET', '/api/auth/mode')).json.data.passkeys).toBe(offered)
    const { status } = await server.call('POST', '/api/auth/passkeys/options', { body: {} })
    expect(status).toBe(offered === true ? 200 : 409)
  })

  test('an invalid Host header is refused or offers no passkeys, and causes no server error', async () => {
    const server = await start({ config: multi })
    const { port } = new URL(server.url)
    for (const host of ['[', 'a b', '%', 'localhost:99999', '']) {
      const status = await new Promise<number>((resolve, reject) => {
        const request = get({ port, path: '/api/auth/mode', headers: { host } }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
        request.on('error', reject)
      })
      expect([200, 400]).toContain(status)
    }
  })

  test('a sign-in that waits for a code waits for five minutes', async () => {
    let time = Date.now()
    const clock = { ...machineClock, now: () => new Date(time) }
    const server = await start({ config: multi, clock })
    const client = clientOf(server)
    const { codes } = await client.addTotp(await register(server, 'ada'))
    const challengeOf = async (): Promise<string> =>
      ((await client.login('ada')).json.details as { challenge: string }).challenge
    const [early, late] = [await challengeOf(), await challengeOf()]
    time += 4 * 60_000
    expect((await client.second(early, codes[0] ?? '')).status).toBe(200)
    time += 2 * 60_000
    expect((await client.second(late, codes[1] ?? '')).json).toMatchObject({
      reason: 'second_factor_expired',
    })
  })

  test('a challenge for a passkey works once, and for five minutes', async () => {
    let time = Date.now()
    const clock = { ...machineClock, now: () => new Date(time) }
    const server = await start({
      config: { ...multi, public_url: 'https://chat.example.org' },
      clock,
    })
    const { post } = clientOf(server)
    const challengeOf = async (): Promise<string> =>
      (await post('/api/auth/passkeys/options', {})).json.data.challenge
    const text = Buffer.alloc(32).toString('base64url')
    const response = {
      ...{ id: text, rawId: text, type: 'public-key', clientExtensionResults: {} },
      response: { clientDataJSON: text, authenticatorData: text, signature: text },
    }
    const reasonOf = async (challenge: string) =>
      (await post('/api/auth/passkeys/sign-in', { challenge, response })).json
    const [used, early, late] = [await challengeOf(), await challengeOf(), await challengeOf()]
    expect(await reasonOf(used)).toMatchObject({ reason: 'passkey_invalid' })
    expect(await reasonOf(used)).toMatchObject({ reason: 'second_factor_expired' })
    time += 4 * 60_000
    expect(await reasonOf(early)).toMatchObject({ reason: 'passkey_invalid' })
    time += 2 * 60_000
    expect(await reasonOf(late)).toMatchObject({ reason: 'second_factor_expired' })
  })

  test('guesses are limited per account, and a challenge ends with a new password or a change of the factor', async () => {
    const server = await start({ config: multi })
    const client = clientOf(server)
    const token = await register(server, 'ada')
    const { secret, codes } = await client.addTotp(token)
    const { challenge } = (await client.login('ada')).json.details as { challenge: string }
    expect((await client.second(challenge.slice(1), codeOf(secret, 'sign in'))).json).toMatchObject(
      {
        reason: 'second_factor_expired',
      },
    )
    const changed = await server.call('PATCH', '/api/auth/profile', {
      token,
      body: { password: 'another password', current_password: password },
    })
    expect(changed.status).toBe(200)
    expect((await client.second(challenge, codes[0] ?? '')).json).toMatchObject({
      reason: 'second_factor_expired',
    })
    const again = await client.post('/api/auth/login', {
      username: 'ada',
      password: 'another password',
    })
    const { challenge: next } = again.json.details as { challenge: string }
    const statuses: number[] = []
    for (let guess = 0; guess < 11; guess += 1)
      statuses.push((await client.second(next, String(100_000 + guess))).status)
    expect(statuses.slice(0, 9)).toEqual(Array(9).fill(401))
    expect(statuses.at(-1)).toBe(429)
    // The right code has to wait, too.
    expect((await client.second(next, codes[0] ?? '')).status).toBe(429)
  })
})
