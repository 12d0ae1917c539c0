// Who can sign in through single sign-on, and that an issuer that lies achieves nothing.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { administer } from '../../../server/commands/admin.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import {
  createBrowser,
  type ScriptedIssuer,
  startScriptedIssuer,
} from '../../support/sign-in/issuer.ts'
import { accountOf, PUBLIC, settings, setUp, signIn } from '../../support/sign-in/single-sign-on.ts'

describe('single sign-on', () => {
  const { start } = useServers()
  let issuer: ScriptedIssuer
  let shared: TestServer
  beforeAll(async () => {
    issuer = await startScriptedIssuer()
    shared = await start({ config: settings(issuer.url) })
    await setUp(shared)
  })
  afterAll(() => issuer.close())

  const past = Math.floor(Date.now() / 1000) - 7200
  test.each([
    ['the issuer is another one', { claims: { iss: 'https://evil.example' } }],
    ['the token is for another client', { claims: { aud: 'somebody-else' } }],
    ['the nonce is of another sign-in', { claims: { nonce: 'x' } }],
    ['the nonce is missing', { claims: { nonce: undefined } }],
    ['the token has expired', { claims: { exp: past, iat: past - 60 } }],
    ['the token has no subject', { claims: { sub: undefined } }],
    ['the token is not signed', { header: { alg: 'none' } }],
    ['the token is signed with the client secret', { header: { alg: 'HS256' } }],
    ['the token is signed with a foreign key', { foreignKey: true }],
    ['the response is no JSON', { tokenResponse: { status: 200, body: '<html>' } }],
    ['the code is refused', { tokenResponse: { status: 400, body: '{"error":"invalid_grant"}' } }],
    [
      'the response is larger than any token',
      { tokenResponse: { status: 200, body: 'x'.repeat(2_000_000) } },
      'oidc_unreachable',
    ],
    [
      'the token endpoint fails',
      { tokenResponse: { status: 500, body: '{"error":"server_error"}' } },
      'oidc_unreachable',
    ],
  ])('a sign-in is refused when %s', async (_name, lie, reason = 'oidc_response_invalid') => {
    issuer.lie = lie
    const browser = createBrowser()
    expect(await signIn(shared, browser)).toBe(`/#sign-in-refused=${reason}`)
    expect(await accountOf(shared, browser)).toBeUndefined()
    expect(shared.logged()).toContain('a single sign-on was rejected')
  })

  test('what a sign-in must remember is sealed in a cookie that no script reads, and its code is worth nothing without it', async () => {
    issuer.lie = {}
    const started = await fetch(`${shared.url}/api/auth/oidc/start`, { redirect: 'manual' })
    const [cookie = '', ...others] = started.headers.getSetCookie()
    expect(others).toEqual([])
    expect(cookie).toMatch(/; HttpOnly(;|$)/)
    const asked = new URL(started.headers.get('location') ?? '').searchParams
    const value = /=([^;]*)/.exec(cookie)?.[1] ?? ''
    const bytes = Buffer.from(value, 'base64url').toString('latin1')
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(asked.get(name)).toMatch(/^[\w-]{43}$/)
      for (const readable of [cookie, bytes]) expect(readable).not.toContain(asked.get(name))
    }
    // Nor is there what the challenge is the hash of.
    const hashes = [cookie, bytes].flatMap((readable) =>
      [...readable.matchAll(/(?=([\w-]{43}))/g)].map(([, part = '']) =>
        createHash('sha256').update(part).digest('base64url'),
      ),
    )
    expect(hashes).not.toContain(asked.get('code_challenge'))
    // The issuer of these tests gives nothing to whoever does not know what this is the hash of.
    expect(asked.get('code_challenge_method')).toBe('S256')
  })

  test('a callback works once, in the browser that started the sign-in, with the values that the issuer sent', async () => {
    issuer.lie = {}
    const server = shared
    const browser = createBrowser()
    const started = await browser.visit(
      `${server.url}/api/auth/oidc/start?return_to=//evil.example`,
    )
    const back = await browser.visit(started.location)
    const callback = server.url + back.location.slice(PUBLIC.length)
    const unknown = `${server.url}/#sign-in-refused=oidc_sign_in_unknown`
    expect((await createBrowser().visit(callback)).location).toBe(unknown)
    const kept = browser.cookies(server.url)
    const [name = '', value = ''] = [...kept][0] ?? []
    expect((await browser.visit(callback.replace('state=', 'state=x'))).location).toBe(unknown)
    // The refusal has removed the cookie. Another attempt's response of the issuer changes nothing.
    expect((await browser.visit(callback)).location).toBe(unknown)
    kept.set(
      name,
      value.replace(/.(?=.{20}$)/, (one) => (one === 'A' ? 'B' : 'A')),
    )
    expect((await browser.visit(callback)).location).toBe(unknown)
    kept.set(name, value)
    const refused = callback.replace(/code=[^&]*/, 'error=access_denied')
    expect((await browser.visit(refused)).location).toBe(
      `${server.url}/#sign-in-refused=oidc_refused`,
    )
    kept.set(name, value)
    // `return_to` led to another site, so the browser goes to the home page instead.
    expect((await browser.visit(callback)).location).toBe(`${server.url}/#signed-in`)
  })

  test('a return to a path of the page leads there, in whatever script it is', async () => {
    issuer.lie = {}
    const server = await start({ config: settings(issuer.url) })
    await setUp(server)
    for (const path of ['/projects/é', '/项目?q=ü', '/%25', '/a%b', '/\u{1f600}', '/a"<b>'])
      expect(new URL(await signIn(server, createBrowser(), path), PUBLIC).href).toBe(
        new URL(`${path}#signed-in`, PUBLIC).href,
      )
  })

  test.each([
    '/a%00b',
    '/a%0Ab',
    '/a%0D%0Aset-cookie:x=y',
    '/a%7Fb',
    '/a%E2%80%A8b',
    '%2F%2Fevil.example',
    `/${'x'.repeat(2_000)}`,
    'x',
  ])('a return to %s, which is no path of the page, leads to the home page', async (path) => {
    issuer.lie = {}
    const browser = createBrowser()
    const started = await browser.visit(`${shared.url}/api/auth/oidc/start?return_to=${path}`)
    const back = await browser.visit(started.location)
    const { location } = await browser.visit(shared.url + back.location.slice(PUBLIC.length))
    expect(location).toBe(`${shared.url}/#signed-in`)
  })

  test('only members of the allowed groups can sign in, also by a nested claim', async () => {
    const config = { allowed_groups: ['staff'], claims: { groups: 'realm_access.roles' } }
    const server = await start({ config: settings(issuer.url, config) })
    await setUp(server)
    const outcome = async (claims: object) => {
      issuer.lie = { claims: { sub: 'x', ...claims } }
      return signIn(server)
    }
    expect(await outcome({ groups: ['staff'] })).toBe('/#sign-in-refused=oidc_not_allowed')
    expect(await outcome({ realm_access: { roles: 'staffers' } })).toBe(
      '/#sign-in-refused=oidc_not_allowed',
    )
    expect(await outcome({ _claim_names: { realm_access: { roles: 'src1' } } })).toBe(
      '/#sign-in-refused=oidc_groups_withheld',
    )
    expect(await outcome({ realm_access: { roles: ['other', 'staff'] } })).toBe('/#signed-in')
    // Whoever leaves the group cannot sign in again.
    expect(await outcome({ realm_access: { roles: [] } })).toBe(
      '/#sign-in-refused=oidc_not_allowed',
    )
  })

  test('nobody becomes the first account through single sign-on, except an administrator of the issuer', async () => {
    const server = await start({ config: settings(issuer.url, { admin_groups: ['ops'] }) })
    issuer.lie = {}
    expect(await signIn(server)).toBe('/#sign-in-refused=setup_link_required')
    issuer.lie = { claims: { groups: ['ops'] } }
    const browser = createBrowser()
    expect(await signIn(server, browser)).toBe('/#signed-in')
    expect((await accountOf(server, browser)).user.role).toBe('admin')
    // The last administrator stays one, whatever the issuer says.
    issuer.lie = { claims: { groups: [] } }
    expect(await signIn(server, browser)).toBe('/#signed-in')
    expect((await accountOf(server, browser)).user.role).toBe('admin')
  })

  test('without automatic account creation, or with a disabled account, a sign-in is refused', async () => {
    const server = await start({ config: settings(issuer.url) })
    const admin = await setUp(server)
    issuer.lie = {}
    const browser = createBrowser()
    await signIn(server, browser)
    const { user } = await accountOf(server, browser)
    const body = { is_active: false }
    await server.call('PATCH', `/api/admin/users/${user.id}`, { token: admin, body })
    expect(await signIn(server)).toBe('/#sign-in-refused=account_disabled')
    const closed = await start({ config: settings(issuer.url, { auto_create: false }) })
    await setUp(closed)
    expect(await signIn(closed)).toBe('/#sign-in-refused=oidc_no_account')
  })

  test('with passwords switched off, only the account for emergencies signs in with one', async () => {
    const off = { password_login: false, break_glass: 'Root' }
    const server = await start({ config: settings(issuer.url, off) })
    const admin = await setUp(server)
    expect((await server.call('GET', '/api/auth/mode')).json.data).toMatchObject({
      password_off: true,
    })
    const post = (path: string, body: object) => server.call('POST', path, { body })
    const account = { username: 'ann', password: 'a good password' }
    const refusal = { code: 403, reason: 'password_sign_in_off' }
    expect((await post('/api/auth/register', account)).json).toMatchObject(refusal)
    expect((await post('/api/auth/login', account)).json).toMatchObject(refusal)
    issuer.lie = {}
    const browser = createBrowser()
    await signIn(server, browser)
    const { user } = await accountOf(server, browser)
    const created = await server.call('POST', `/api/admin/users/${user.id}/reset-link`, {
      token: admin,
    })
    // The link would not work.
    expect(created.json).toMatchObject(refusal)
    expect((await post('/api/auth/login', { ...account, username: 'root' })).status).toBe(200)
  })

  test('an account without a password gets a password link only if the administrator explicitly allows it', async () => {
    issuer.lie = { claims: { sub: 'without', preferred_username: 'sso-only' } }
    const browser = createBrowser()
    await signIn(shared, browser)
    const { user } = await accountOf(shared, browser)
    const admin = (await login('root', 'a good password')).json.data.token
    const path = `/api/admin/users/${user.id}/reset-link`
    const reset = (body?: object) => shared.call('POST', path, { token: admin, body })
    const refusal = { reason: 'account_without_password', params: { name: 'sso-only' } }
    for (const body of [undefined, {}, { add_password: false }]) {
      const { status, json } = await reset(body)
      expect([status, json]).toMatchObject([409, refusal])
    }
    const command = (...more: string[]) =>
      administer(shared.server.config, ['reset-password', 'sso-only', ...more])
    await expect(command()).rejects.toMatchObject({ reason: 'account_without_password' })
    expect(await command('anything')).toBeNull()
    const [line = ''] = (await command('add-password')) ?? []
    expect(line).toContain('/join#')
    expect((await login('sso-only', '!')).status).toBe(401)
    const link = (await reset({ add_password: true })).json.data.token
    const chosen = { link, password: 'another good password' }
    expect((await shared.call('POST', '/api/auth/reset', { body: chosen })).status).toBe(200)
    expect((await login('sso-only', chosen.password)).status).toBe(200)
    // It has one now.
    expect((await reset()).status).toBe(200)
    const log = await shared.call('GET', '/api/admin/audit?action=reset_link_created', {
      token: admin,
    })
    expect(log.json.data.items.map(({ details }: { details: object }) => details)).toEqual([
      expect.objectContaining({ account: 'sso-only' }),
      expect.objectContaining({ account: 'sso-only', add_password: true }),
      expect.objectContaining({ account: 'sso-only', by: 'command line' }),
    ])

    function login(username: string, password: string) {
      return shared.call('POST', '/api/auth/login', { body: { username, password } })
    }
  })

  test('the server starts while the issuer is down, says so at sign-in, and finds the issuer when it is back', async () => {
    const late = await startScriptedIssuer()
    late.metadata = { issuer: 'https://not.the.same' }
    const server = await start({ config: settings(late.url) })
    await setUp(server)
    expect(await signIn(server)).toBe('/#sign-in-refused=oidc_unreachable')
    late.metadata = {}
    expect(await signIn(server)).toBe('/#signed-in')
    const found = late.discoveries()
    // The discovered configuration is remembered, and so are the keys.
    expect(await signIn(server)).toBe('/#signed-in')
    expect(late.discoveries()).toBe(found)
    // It goes away while somebody signs in.
    const browser = createBrowser()
    const started = await browser.visit(`${server.url}/api/auth/oidc/start`)
    const back = await browser.visit(started.location)
    await late.close()
    const { location } = await browser.visit(server.url + back.location.slice(PUBLIC.length))
    expect(location).toBe(`${server.url}/#sign-in-refused=oidc_unreachable`)
  })
})
