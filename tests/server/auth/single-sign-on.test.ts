// Single sign-on with a real issuer of OpenID Connect, on both databases.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnEachServer } from '../../support/server/server.ts'
import { createBrowser, startRealIssuer } from '../../support/sign-in/issuer.ts'
import { accountOf, PUBLIC, settings, setUp, signIn } from '../../support/sign-in/single-sign-on.ts'

describeOnEachServer('single sign-on with a real issuer', (start) => {
  let person: { sub: string; [claim: string]: unknown } = { sub: '' }
  let issuer: Awaited<ReturnType<typeof startRealIssuer>>
  beforeAll(async () => {
    issuer = await startRealIssuer(`${PUBLIC}/api/auth/oidc/callback`, () => person)
  })
  afterAll(() => issuer.close())

  test('the first sign-in creates an account, later ones find it, and role and groups follow those of the issuer up and down', async () => {
    const groups = { dev: 'developers', ops: 'Operators', dba: 'Operators', other: 'Unknown' }
    const server = await start(settings(issuer.url, { admin_groups: ['ops'], groups }))
    const admin = await setUp(server)
    const asAdmin = (method: string, path: string, body?: object) =>
      server.call(method, path, { token: admin, body })
    for (const name of ['Developers', 'Operators', 'By hand'])
      await asAdmin('POST', '/api/admin/groups', { name })
    const { items } = (await asAdmin('GET', '/api/admin/groups')).json.data
    const memberships = async (id: string): Promise<string[]> => {
      const users = (await asAdmin('GET', '/api/admin/users')).json.data.items
      const found = users.find((user: { id: string }) => user.id === id)
      return found.groups.map(({ name }: { name: string }) => name)
    }
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
    expect(await memberships(first.user.id)).toEqual(['Developers'])
    const confirmation = await server.call('GET', '/api/auth/confirmations', { token: first.token })
    expect(confirmation.json.data).toEqual({ address: 'ada@example.org', is_confirmed: true })
    await asAdmin('PUT', `/api/admin/groups/${items[0].id}/members/${first.user.id}`)
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
    expect(await memberships(first.user.id)).toEqual(['By hand', 'Developers', 'Operators'])
    expect(server.logged()).toContain('groups of oidc.groups do not exist here')
    person = { ...person, groups: [] }
    await signIn(server, second)
    expect((await accountOf(server, second)).user).toMatchObject({
      id: first.user.id,
      role: 'user',
    })
    expect(await memberships(first.user.id)).toEqual(['By hand'])
    const audit = await asAdmin('GET', '/api/admin/audit?limit=100')
    const seen = audit.json.data.items
      .toReversed()
      .map(
        ({ action, details }: { action: string; details: { role?: string; group?: string } }) => [
          action,
          details.role ?? details.group,
        ],
      )
    expect(seen).toEqual([
      ['register', undefined],
      ['group_created', undefined],
      ['group_created', undefined],
      ['group_created', undefined],
      ['register', 'user'],
      ['group_member_added', 'Developers'],
      ['sign_in', undefined],
      ['group_member_added', 'By hand'],
      ['account_changed', 'admin'],
      ['group_member_added', 'Operators'],
      ['sign_in', undefined],
      ['account_changed', 'user'],
      ['group_member_removed', 'Developers'],
      ['group_member_removed', 'Operators'],
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

  test('an account is taken over by email address only if the issuer verified it and that is allowed', async () => {
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
