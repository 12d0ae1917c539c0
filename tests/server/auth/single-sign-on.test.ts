// Single sign-on with OpenID Connect: against a real issuer, and against one that lies.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CLIENT,
  createBrowser,
  type ScriptedIssuer,
  startRealIssuer,
  startScriptedIssuer,
} from '../../support/issuer.ts'
import {
  describeOnEachServer,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server.ts'

/** What browsers see; the tests send its requests to the server under test. */
const PUBLIC = 'http://chat.test:1'
const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, public_url: PUBLIC }
const settings = (issuer: string, more: object = {}) => ({
  ...multi,
  oidc: { issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, name: 'Example', ...more },
})

/** The first account: a local administrator, with the set-up link. */
async function setUp(server: TestServer): Promise<string> {
  const link = server.server.setupPath?.split('#')[1]
  const body = { username: 'root', password: 'a good password', link }
  return (await server.call('POST', '/api/auth/register', { body })).json.data.token
}

type Browser = ReturnType<typeof createBrowser>

/** Follows the sign-in until the page is reached. @returns its path with the fragment. */
async function signIn(
  server: TestServer,
  browser: Browser = createBrowser(),
  from = '/',
): Promise<string> {
  const start = `${server.url}/api/auth/oidc/start?return_to=${encodeURIComponent(from)}`
  let { location } = await browser.visit(start)
  for (let hop = 0; hop < 10; hop += 1) {
    if (location.startsWith(PUBLIC)) location = server.url + location.slice(PUBLIC.length)
    if (location.startsWith(server.url) && !location.includes('/api/')) break
    ;({ location } = await browser.visit(location))
  }
  return location.slice(server.url.length)
}

/** The account whose session the browser has; undefined without one. */
async function accountOf(server: TestServer, browser: Browser) {
  const cookie = [...browser.cookies(server.url)]
    .map(([name, value]) => `${name}=${value}`)
    .join('; ')
  const { json } = await server.call('POST', '/api/auth/refresh', { headers: { cookie } })
  return json.data
}

describeOnEachServer('single sign-on with a real issuer', (start) => {
  let person: { sub: string; [claim: string]: unknown } = { sub: '' }
  let issuer: Awaited<ReturnType<typeof startRealIssuer>>
  beforeAll(async () => {
    issuer = await startRealIssuer(`${PUBLIC}/api/auth/oidc/callback`, () => person)
  })
  afterAll(() => issuer.close())

  test('the first sign-in creates an account, later ones find it, and roles follow the groups up and down', async () => {
    const server = await start(settings(issuer.url, { admin_groups: ['ops'] }))
    const admin = await setUp(server)
    const mode = (await server.call('GET', '/api/auth/mode')).json.data
    expect(mode).toMatchObject({ oidc: 'Example' })
    expect(mode).not.toHaveProperty('password_off')
    person = {
      sub: '7',
      preferred_username: 'Ada L.',
      email: 'ada@example.org',
      email_verified: true,
      groups: ['dev'],
    }
    const browser = createBrowser()
    expect(await signIn(server, browser, '/projects?x=1')).toBe('/projects?x=1#signed-in')
    const first = await accountOf(server, browser)
    expect(first.user).toMatchObject({ username: 'Ada.L.', email: 'ada@example.org', role: 'user' })
    // The name and the address changed; the subject did not.
    person = {
      ...person,
      preferred_username: 'lovelace',
      email: 'root@example.org',
      groups: ['ops', 'dev'],
    }
    const second = createBrowser()
    await signIn(server, second)
    expect((await accountOf(server, second)).user).toMatchObject({
      id: first.user.id,
      username: 'Ada.L.',
      role: 'admin',
    })
    person = { ...person, groups: [] }
    await signIn(server, second)
    expect((await accountOf(server, second)).user).toMatchObject({
      id: first.user.id,
      role: 'user',
    })
    const audit = await server.call('GET', '/api/admin/audit?limit=100', { token: admin })
    const seen = audit.json.data.items
      .toReversed()
      .map(({ action, details }: { action: string; details: { role?: string } }) => [
        action,
        details.role,
      ])
    expect(seen).toEqual([
      ['register', undefined],
      ['register', 'user'],
      ['sign_in', undefined],
      ['account_changed', 'admin'],
      ['sign_in', undefined],
      ['account_changed', 'user'],
      ['sign_in', undefined],
    ])
  })

  test('signing out also ends the session at the issuer', async () => {
    const server = await start(settings(issuer.url))
    await setUp(server)
    person = { sub: '8', preferred_username: 'bob' }
    const browser = createBrowser()
    await signIn(server, browser)
    const { token } = await accountOf(server, browser)
    const { json } = await server.call('POST', '/api/auth/logout', { token })
    const url = new URL(json.data.url)
    expect(url.origin).toBe(issuer.url)
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${PUBLIC}/`)
    // The issuer recognizes its token and asks for confirmation.
    expect((await browser.visit(url.href)).status).toBe(200)
    // A session that began with a password ends here only.
    const body = { username: 'root', password: 'a good password' }
    const root = (await server.call('POST', '/api/auth/login', { body })).json.data.token
    expect(
      (await server.call('POST', '/api/auth/logout', { token: root })).json,
    ).not.toHaveProperty('data')
  })

  test('an account is taken over by e-mail address only if the issuer verified it and that is allowed', async () => {
    const signInAs = async (config: object, claims: object) => {
      const server = await start(settings(issuer.url, config))
      await setUp(server)
      const link = await server.call('POST', '/api/auth/register', {
        body: { username: 'ann', password: 'a good password', email: 'Ann@example.org' },
      })
      person = { sub: '9', preferred_username: 'ann', email: 'ann@example.org', ...claims }
      const browser = createBrowser()
      await signIn(server, browser)
      const { user } = await accountOf(server, browser)
      return { linked: user.id === link.json.data.user.id, user }
    }
    expect(await signInAs({}, { email_verified: true })).toMatchObject({
      linked: false,
      user: { username: 'ann-2', email: null },
    })
    const allowed = { link_by_email: true }
    for (const email_verified of [false, 'false', undefined])
      expect(await signInAs(allowed, { email_verified })).toMatchObject({ linked: false })
    expect(await signInAs(allowed, { email_verified: 'true' })).toMatchObject({ linked: true })
  })
})

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
    expect(shared.logged()).toContain('a single sign-on was refused')
  })

  test('a callback works once, in the browser that began it, with what the issuer sent', async () => {
    issuer.lie = {}
    const server = shared
    const browser = createBrowser()
    const begun = await browser.visit(`${server.url}/api/auth/oidc/start?return_to=//evil.example`)
    const back = await browser.visit(begun.location)
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
    // Neither another site nor anything but a path of the page.
    expect((await browser.visit(callback)).location).toBe(`${server.url}/#signed-in`)
  })

  test('only members of the allowed groups may sign in, by a nested claim too', async () => {
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

  test('without automatic accounts, and with a disabled one, nobody gets in', async () => {
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
    const made = await server.call('POST', `/api/admin/users/${user.id}/reset-link`, {
      token: admin,
    })
    const { token: link } = made.json.data
    expect(
      (await post('/api/auth/reset', { link, password: 'another password' })).json,
    ).toMatchObject(refusal)
    expect((await post('/api/auth/login', { ...account, username: 'root' })).status).toBe(200)
  })

  test('the server starts without its issuer, says so at sign-in, and finds it as soon as it is there', async () => {
    const late = await startScriptedIssuer()
    late.metadata = { issuer: 'https://not.the.same' }
    const server = await start({ config: settings(late.url) })
    await setUp(server)
    expect(await signIn(server)).toBe('/#sign-in-refused=oidc_unreachable')
    late.metadata = {}
    expect(await signIn(server)).toBe('/#signed-in')
    const found = late.discoveries()
    // What was found is remembered: also the keys.
    expect(await signIn(server)).toBe('/#signed-in')
    expect(late.discoveries()).toBe(found)
    // It goes away while somebody signs in.
    const browser = createBrowser()
    const begun = await browser.visit(`${server.url}/api/auth/oidc/start`)
    const back = await browser.visit(begun.location)
    await late.close()
    const { location } = await browser.visit(server.url + back.location.slice(PUBLIC.length))
    expect(location).toBe(`${server.url}/#sign-in-refused=oidc_unreachable`)
  })
})
