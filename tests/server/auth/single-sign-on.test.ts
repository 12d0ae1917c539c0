// Single sign-on with a real issuer of OpenID Connect, on both databases.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { createBrowser, startRealIssuer } from '../../support/sign-in/issuer.ts'
import { accountOf, PUBLIC, settings, setUp, signIn } from '../../support/sign-in/single-sign-on.ts'
import { startMailServer } from '../messaging/receivers.ts'

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
      ['register', 'admin'],
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

  test('who leaves a group at the issuer loses its projects with the next sign-in, and what works there ends', async () => {
    const server = await start(settings(issuer.url, { groups: { dev: 'Developers' } }))
    const admin = await setUp(server)
    const asAdmin = async (method: string, path: string, body?: object) =>
      (await server.call(method, path, { token: admin, body })).json.data
    const group = await asAdmin('POST', '/api/admin/groups', { name: 'Developers' })
    const project = await asAdmin('POST', '/api/projects', { name: 'Code' })
    const members = `/api/projects/${project.id}/members`
    await asAdmin('PUT', `${members}/group:${group.id}`, { role: 'edit' })
    person = { sub: '11', preferred_username: 'eve', groups: ['dev'] }
    const browser = createBrowser()
    await signIn(server, browser)
    const { token } = await accountOf(server, browser)
    const asEve = async (method: string, path: string, body?: object) =>
      (await server.call(method, path, { token, body })).json.data
    const talk = await asEve('POST', '/api/conversations', { project_id: project.id })
    const planned = await asEve('POST', '/api/schedules', {
      ...{ name: 'Hourly', text: 'Look', when: { every: '1h' }, project_id: project.id },
    })
    const events = await openEvents(`${server.url}/api/events`, { token })
    await events.next(({ event }) => event === 'ready')
    person = { ...person, groups: [] }
    await signIn(server, createBrowser())
    expect(await asEve('GET', `/api/conversations/${talk.id}`)).toMatchObject({ project_id: null })
    expect(await asEve('GET', `/api/schedules/${planned.id}`)).toMatchObject({ enabled: false })
    const isOf = (change: string) => (event: { event: string; data: Record<string, unknown> }) =>
      event.event === 'project' && event.data.id === project.id && event.data.change === change
    await events.next(isOf('deleted'))
    person = { ...person, groups: ['dev'] }
    await signIn(server, createBrowser())
    await events.next(isOf('created'))
    events.leave()
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

  const register = async (server: TestServer, username: string, email: string) => {
    const body = { username, password: 'a good password', email }
    return (await server.call('POST', '/api/auth/register', { body })).json.data
  }

  test('an account that merely names an address is never taken over by its owner, whatever the issuer and the configuration say', async () => {
    for (const config of [{}, { link_by_email: true }])
      for (const email_verified of [true, 'true', false, undefined]) {
        const server = await start(settings(issuer.url, config))
        await setUp(server)
        const squatter = await register(server, 'ann', 'Ann@example.org')
        person = { sub: '9', preferred_username: 'ann', email: 'ann@example.org', email_verified }
        const browser = createBrowser()
        await signIn(server, browser)
        const { user } = await accountOf(server, browser)
        expect(user).toMatchObject({ username: 'ann-2', email: null })
        expect(user.id).not.toBe(squatter.user.id)
        const still = await server.call('GET', '/api/auth/profile', { token: squatter.token })
        expect(still.json.data).toMatchObject({ username: 'ann', email: 'Ann@example.org' })
      }
  })

  test('the owner of a confirmed address takes the account over, and every other way into it ends', async () => {
    const { smtp, mails } = await startMailServer()
    const config = { link_by_email: true, admin_groups: ['ops'], break_glass: 'glass' }
    const server = await start({ ...settings(issuer.url, config), smtp })
    const admin = await setUp(server)
    const confirm = async (token: string, address?: string) => {
      const before = mails.length
      await server.call('POST', '/api/auth/confirmations', { token, body: { address } })
      await expect.poll(() => mails.length).toBe(before + 1)
      return /join#([\w=-]+)/.exec(mails[before]?.replaceAll('=\r\n', '') ?? '')?.[1] ?? ''
    }
    const use = (link: string) =>
      server.call('POST', '/api/auth/confirmations/confirm', { body: { link } })
    const ann = await register(server, 'ann', 'ann@example.org')
    const as = (method: string, path: string, body?: object) =>
      server.call(method, path, { token: ann.token, body })
    const key = (await as('POST', '/api/auth/keys', { name: 'script' })).json.data.key
    // A second address that somebody else reads must not lead back in later.
    const later = await confirm(ann.token, 'other@example.org')
    await use(await confirm(ann.token))
    const secondSession = await server.call('POST', '/api/auth/login', {
      body: { username: 'ann', password: 'a good password', cookie: true },
    })
    const refresh = secondSession.headers.getSetCookie().join('; ')
    person = {
      sub: '9',
      preferred_username: 'ann',
      email: 'ann@example.org',
      email_verified: true,
      groups: ['ops'],
    }
    const browser = createBrowser()
    await signIn(server, browser)
    const taken = await accountOf(server, browser)
    expect(taken.user).toMatchObject({ id: ann.user.id, role: 'admin' })
    for (const token of [ann.token, key, secondSession.json.data.token])
      expect((await server.call('GET', '/api/auth/profile', { token })).status).toBe(401)
    const renewed = { headers: { cookie: refresh } }
    expect((await server.call('POST', '/api/auth/refresh', renewed)).status).toBe(401)
    const password = { body: { username: 'ann', password: 'a good password' } }
    expect((await server.call('POST', '/api/auth/login', password)).status).toBe(401)
    expect((await use(later)).status).toBe(403)
    const mode = await server.call('GET', '/api/auth/confirmations', { token: taken.token })
    expect(mode.json.data).toEqual({ address: 'ann@example.org', is_confirmed: true })
    const audit = await server.call('GET', '/api/admin/audit?limit=100', { token: admin })
    expect(audit.json.data.items).toContainEqual(
      expect.objectContaining({ action: 'identity_linked' }),
    )

    // The account for the day when the issuer does not work stays as it is.
    const glass = await register(server, 'glass', 'glass@example.org')
    await use(await confirm(glass.token))
    person = { ...person, sub: '10', preferred_username: 'g', email: 'glass@example.org' }
    const another = createBrowser()
    await signIn(server, another)
    expect((await accountOf(server, another)).user.id).not.toBe(glass.user.id)
    expect(
      (await server.call('GET', '/api/auth/profile', { token: glass.token })).json.data.username,
    ).toBe('glass')
  })
})
