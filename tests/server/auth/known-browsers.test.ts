// Limits of sign-ins do not keep people out who share an address with somebody who guesses passwords.
import { expect, test } from 'vitest'
import {
  describeOnEachServer,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, public_url: 'http://chat.example' }
const OFFICE = '203.0.113.7'
const PASSWORD = 'a good password'

/** A browser behind an address; it keeps the cookie of the accounts that were used in it. */
function createBrowser(server: TestServer, address: string) {
  let kept = ''
  return {
    kept: () => kept,
    set(value: string) {
      kept = value
    },
    async send(path: string, body: object): Promise<number> {
      const { status, headers } = await server.call('POST', path, {
        body,
        headers: { 'x-forwarded-for': address, ...(kept === '' ? {} : { cookie: kept }) },
      })
      const set = headers.getSetCookie().find((cookie) => cookie.startsWith('nanoclaw_known'))
      if (set !== undefined) {
        expect(set).toMatch(/HttpOnly; SameSite=Lax/)
        kept = set.split(';')[0] ?? ''
      }
      return status
    },
    login(username: string, password = PASSWORD): Promise<number> {
      return this.send('/api/auth/login', { username, password, cookie: true })
    },
  }
}

describeOnEachServer('browsers in which somebody has signed in before', (start) => {
  const setUp = async (names: readonly string[]) => {
    const server = await start(multi)
    const browsers = []
    for (const [index, username] of names.entries()) {
      const browser = createBrowser(server, OFFICE)
      const link = index === 0 ? { link: server.server.setupPath?.split('#')[1] } : {}
      const body = { username, password: PASSWORD, cookie: true, ...link }
      expect(await browser.send('/api/auth/register', body)).toBe(200)
      browsers.push(browser)
    }
    const guess = async (username: string, times: number, address = OFFICE) => {
      const stranger = createBrowser(server, address)
      const statuses = []
      for (let n = 0; n < times; n += 1)
        statuses.push(await stranger.login(username, `wrong ${n} password`))
      return statuses
    }
    return { server, browsers, guess }
  }

  test('ten wrong passwords behind one address leave out new browsers there, but not those that were used before', async () => {
    const { server, browsers, guess } = await setUp(['ann', 'bob'])
    expect(await guess('nobody', 11)).toEqual([...Array(10).fill(401), 429])
    expect(await createBrowser(server, OFFICE).login('ann')).toBe(429)
    expect(await browsers[0]?.login('ann')).toBe(200)
    expect(await browsers[1]?.login('bob')).toBe(200)
    // It is known for that account only.
    expect(await browsers[1]?.login('ann')).toBe(429)
  })

  test('guesses of one account from many addresses do not keep its owner out of a browser used before', async () => {
    const { browsers, guess } = await setUp(['ann'])
    for (let n = 0; n < 14; n += 1) await guess('ann', 1, `198.51.100.${n}`)
    for (let n = 0; n < 3; n += 1) expect(await browsers[0]?.login('ann')).toBe(200)
  })

  test('a browser is known until the sessions of the account end, as with a new password', async () => {
    const { server, browsers, guess } = await setUp(['ann'])
    const link = await server.call('POST', '/api/auth/login', {
      body: { username: 'ann', password: PASSWORD },
    })
    const { token } = link.json.data
    const password = 'another good password'
    const changed = { current_password: PASSWORD, password }
    expect((await server.call('PATCH', '/api/auth/profile', { token, body: changed })).status).toBe(
      200,
    )
    expect(await guess('nobody', 11)).toContain(429)
    expect(await browsers[0]?.login('ann', password)).toBe(429)
    // The same browser elsewhere, where nobody guesses, is known again after signing in.
    const { headers } = await server.call('POST', '/api/auth/login', {
      body: { username: 'ann', password, cookie: true },
      headers: { 'x-forwarded-for': '198.51.100.9', cookie: browsers[0]?.kept() ?? '' },
    })
    const kept = headers.getSetCookie().find((cookie) => cookie.startsWith('nanoclaw_known'))
    browsers[0]?.set(kept?.split(';')[0] ?? '')
    expect(await browsers[0]?.login('ann', password)).toBe(200)
  })

  test('a browser that was used before gets no more attempts than any other', async () => {
    const { browsers } = await setUp(['ann'])
    const statuses = []
    for (let n = 0; n < 12; n += 1) statuses.push(await browsers[0]?.login('ann', `wrong ${n}`))
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    expect(await browsers[0]?.login('ann')).toBe(429)
  })

  test('one browser remembers several accounts, and what it keeps cannot be forged', async () => {
    const { server, browsers, guess } = await setUp(['ann', 'bob'])
    const [shared, other] = browsers
    expect(await shared?.login('bob')).toBe(200)
    expect(shared?.kept().split('~')).toHaveLength(2)
    await guess('nobody', 10)
    expect(await shared?.login('ann')).toBe(200)
    expect(await shared?.login('bob')).toBe(200)
    const forger = createBrowser(server, OFFICE)
    const genuine = other?.kept() ?? ''
    const [, user = '', browser = '', signature = ''] =
      /=([^.]+)\.([^.]+)\.(.+)$/.exec(genuine) ?? []
    const name = genuine.split('=')[0]
    /** With another first character: that of base64 has no bits that are ignored. */
    const changed = (part: string): string => `${part.startsWith('A') ? 'B' : 'A'}${part.slice(1)}`
    for (const forged of [
      `${name}=${user}.${changed(browser)}.${signature}`,
      `${name}=${user}.${browser}.${changed(signature)}`,
      `${name}=${'~'.repeat(3000)}`,
      `${name}=`,
    ]) {
      forger.set(forged)
      expect(await forger.login('bob')).toBe(429)
    }
  })

  test('an invitation works behind an address that has used up its registrations', async () => {
    const server = await start({ ...multi, limits: { registrations_per_hour: 2 } })
    const first = createBrowser(server, OFFICE)
    const link = server.server.setupPath?.split('#')[1]
    const { json } = await server.call('POST', '/api/auth/register', {
      body: { username: 'root', password: PASSWORD, link },
    })
    const register = (username: string, more: object = {}) =>
      first.send('/api/auth/register', { username, password: PASSWORD, ...more })
    expect([await register('ann'), await register('bob'), await register('cy')]).toEqual([
      200, 200, 429,
    ])
    const invitation = await server.call('POST', '/api/admin/invitations', {
      token: json.data.token,
      body: {},
    })
    const invited = invitation.json.data.url.split('#')[1]
    expect(await register('cy', { link: invited })).toBe(200)
  })
})
