// Who may create an account: the setup link, invitations, reset links, and which passwords are refused; on both databases.
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { startMailServer } from '../messaging/receivers.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }
const person = (username: string) => ({ username, password: 'a good password' })
/** What a proxy adds to the requests of other machines. */
const fromElsewhere = { 'x-forwarded-for': '203.0.113.7' }

const setupToken = ({ server }: TestServer): string => server.setupPath?.split('#')[1] ?? ''

describeOnEachServer('registering', (start) => {
  const post = async (server: TestServer, path: string, body: object, headers = {}) =>
    server.call('POST', path, { body, headers })

  test('from another machine, only the setup link creates the first account, and only that one', async () => {
    const server = await start(multi)
    const token = setupToken(server)
    const mode = async () =>
      (await server.call('GET', '/api/auth/mode', { headers: fromElsewhere })).json.data
    expect(await mode()).toEqual({ mode: 'multi', registration: 'open', setup_link: true })
    for (const link of [undefined, 'x', `${token}x`]) {
      const body = { ...person('eve'), ...(link === undefined ? {} : { link }) }
      const { status, json } = await post(server, '/api/auth/register', body, fromElsewhere)
      expect([status, json]).toMatchObject([403, { reason: 'setup_link_required' }])
    }
    const found = await post(server, '/api/auth/links', { link: token }, fromElsewhere)
    expect(found.json.data).toMatchObject({ kind: 'setup', role: 'admin' })
    const first = { ...person('ada'), link: token }
    const created = await post(server, '/api/auth/register', first, fromElsewhere)
    expect(created.json.data.user.role).toBe('admin')
    const again = await post(server, '/api/auth/register', { ...person('eve'), link: token })
    expect([again.status, again.json]).toMatchObject([403, { reason: 'account_link_invalid' }])
    expect((await post(server, '/api/auth/links', { link: token })).status).toBe(403)
    const later = await post(server, '/api/auth/register', person('bob'), fromElsewhere)
    expect(later.json.data.user.role).toBe('user')
  })

  test.each([
    ['a page of another origin', { origin: 'https://example.org' }, {}],
    ['a proxy that names itself', { via: '1.1 proxy' }, {}],
    ['a server with a public URL', {}, { public_url: 'https://chat.example.org' }],
    ['a server that wants the link', {}, { first_administrator: 'link' }],
  ])('a request from this machine is not enough through %s', async (_name, headers, config) => {
    const server = await start({ ...multi, ...config })
    const { json } = await post(server, '/api/auth/register', person('eve'), headers)
    expect(json).toMatchObject({ code: 403, reason: 'setup_link_required' })
  })

  describe('with invitations only', () => {
    let server: TestServer
    let admin = ''
    beforeAll(async () => {
      server = await start({ ...multi, registration: 'invite' })
      admin = await register(server, 'ada')
    })
    const invite = async (body: object, token = admin) =>
      (await server.call('POST', '/api/admin/invitations', { body, token })).json.data
    const join = (name: string, link: string) =>
      post(server, '/api/auth/register', { ...person(name), link })

    test('an invitation creates one account with its role, even when it is used twice at once', async () => {
      const without = await post(server, '/api/auth/register', person('eve'))
      expect(without.json).toMatchObject({ code: 403, reason: 'invitation_required' })
      const { token, url, id } = await invite({ role: 'admin', note: 'for Bob' })
      expect(url).toBe(`${server.url}/join#${token}`)
      // A name that is taken does not use up the invitation.
      expect((await join('ada', token)).status).toBe(409)
      const both = await Promise.all([join('bob', token), join('bobby', token)])
      expect(both.map(({ status }) => status).sort()).toEqual([200, 403])
      const user = both.find(({ status }) => status === 200)?.json.data.user
      expect(user.role).toBe('admin')
      const list = (await server.call('GET', '/api/admin/invitations', { token: admin })).json.data
      expect(list.items).toContainEqual(
        expect.objectContaining({
          id,
          note: 'for Bob',
          user_id: user.id,
          used_at: expect.any(String),
        }),
      )
      expect(JSON.stringify(list)).not.toContain(token)
    })

    test('the limits of an invitation apply to its account from the first request on, and to nobody else', async () => {
      const quota = { tokens_per_day: 0, concurrent_runs: 2 }
      const created = await invite({ quota, expires_in_hours: 48 })
      expect(created.quota).toMatchObject({ ...quota, storage: null })
      const hours = (Date.parse(created.expires_at) - Date.parse(created.created_at)) / 3_600_000
      expect(hours).toBe(48)
      const limitsOf = async (token: string) =>
        (await server.call('GET', '/api/quota', { token })).json.data.items.flatMap(
          ({ kind, limit }: { kind: string; limit: number }) =>
            kind in quota ? [[kind, limit]] : [],
        )
      const { token, user } = (await join('lea', created.token)).json.data
      const limits = await limitsOf(token)
      expect(limits).toContainEqual(['tokens_per_day', 0])
      expect(limits).toContainEqual(['concurrent_runs', 2])
      const { id } = (await server.call('POST', '/api/conversations', { body: {}, token })).json
        .data
      const body = { text: 'Go', stream: false }
      const sent = await server.call('POST', `/api/conversations/${id}/messages`, { body, token })
      expect(sent.json).toMatchObject({ code: 429, reason: 'tokens_per_day_used_up' })
      expect(await limitsOf(admin)).not.toContainEqual(['tokens_per_day', 0])
      const list = (await server.call('GET', '/api/admin/users?q=lea', { token: admin })).json.data
      expect(list.items).toMatchObject([{ id: user.id, quota: { ...quota, storage: null } }])
      const refused = { quota: { tokens_per_day: -1 } }
      const wrong = await server.call('POST', '/api/admin/invitations', {
        body: refused,
        token: admin,
      })
      expect(wrong.status).toBe(400)
    })

    test('an invitation into a group puts its account there from the first request on; without the group, it still works', async () => {
      const group = async (name: string) =>
        (
          await server.call('POST', '/api/admin/groups', {
            body: { name, tools: ['calculator'] },
            token: admin,
          })
        ).json.data
      const readers = await group('Readers')
      const created = await invite({ group_id: readers.id })
      const { id, name } = readers
      expect(created.group).toEqual({ id, name })
      const { token, user } = (await join('nia', created.token)).json.data
      const tools = (await server.call('GET', '/api/tools', { token })).json.data.tools
      expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
        'calculator',
      ])
      const list = (await server.call('GET', '/api/admin/users?q=nia', { token: admin })).json.data
      expect(list.items).toMatchObject([{ id: user.id, groups: [{ id, name }] }])

      const writers = await group('Writers')
      const orphan = await invite({ group_id: writers.id })
      await server.call('DELETE', `/api/admin/groups/${writers.id}`, { token: admin })
      const invitations = await server.call('GET', '/api/admin/invitations', { token: admin })
      expect(
        invitations.json.data.items.map((one: { group: { name: string } | null }) => one.group),
      ).toEqual(expect.arrayContaining([null, { id, name }]))
      expect((await join('oto', orphan.token)).json.data.user.role).toBe('user')
      const unknown = await server.call('POST', '/api/admin/invitations', {
        body: { group_id: writers.id },
        token: admin,
      })
      expect(unknown.json).toMatchObject({ code: 404, reason: 'group_not_found' })
    })

    test('a withdrawn invitation and an invitation by a former administrator no longer work', async () => {
      const withdrawn = await invite({})
      await server.call('DELETE', `/api/admin/invitations/${withdrawn.id}`, { token: admin })
      expect((await join('carl', withdrawn.token)).status).toBe(403)
      const second = (await join('dora', (await invite({ role: 'admin' })).token)).json.data
      const hers = await invite({ role: 'admin' }, second.token)
      await server.call('PATCH', `/api/admin/users/${second.user.id}`, {
        token: admin,
        body: { role: 'user' },
      })
      expect((await join('eve', hers.token)).json).toMatchObject({ reason: 'account_link_invalid' })
    })

    test('only administrators can create, list and withdraw invitations', async () => {
      const { token } = (await join('fay', (await invite({})).token)).json.data
      for (const [method, path] of [
        ['POST', '/api/admin/invitations'],
        ['GET', '/api/admin/invitations'],
        ['DELETE', '/api/admin/invitations/x'],
        ['POST', '/api/admin/users/x/reset-link'],
      ] as const) {
        const body = method === 'POST' ? {} : undefined
        expect((await server.call(method, path, { token, body })).status).toBe(403)
      }
    })

    test('a reset link sets a new password once and ends the sessions of the old one', async () => {
      const { token: old, user } = (await join('gil', (await invite({})).token)).json.data
      const link = async () =>
        (await server.call('POST', `/api/admin/users/${user.id}/reset-link`, { token: admin })).json
          .data.token
      const replaced = await link()
      const token = await link()
      expect((await post(server, '/api/auth/links', { link: replaced })).status).toBe(403)
      const found = await post(server, '/api/auth/links', { link: token })
      expect(found.json.data).toMatchObject({ kind: 'reset', username: 'gil' })
      // It does not register anybody.
      expect((await join('hal', token)).status).toBe(403)
      const body = { link: token, password: 'another password' }
      const both = await Promise.all([1, 2].map(() => post(server, '/api/auth/reset', body)))
      expect(both.map(({ status }) => status).sort()).toEqual([200, 403])
      const profile = (bearer: string) =>
        server.call('GET', '/api/auth/profile', { token: bearer }).then(({ status }) => status)
      expect(await profile(old)).toBe(401)
      const fresh = both.find(({ status }) => status === 200)?.json.data.token
      expect(await profile(fresh)).toBe(200)
    })

    test.each([
      ['Password123', 'password_common'],
      ['password1234', 'password_common'],
      ['2026-Sunshine!', 'password_common'],
      ['IVAN@example.org', 'password_is_name'],
    ])('the password %s is refused wherever one is chosen', async (password, reason) => {
      const refused = { code: 400, reason }
      const account = { username: `ivan-${reason}`, email: 'ivan@example.org', password }
      const { token } = await invite({})
      const registered = await post(server, '/api/auth/register', { ...account, link: token })
      expect(registered.json).toMatchObject(refused)
      if (reason !== 'password_common') return
      const changed = await server.call('PATCH', '/api/auth/profile', {
        token: admin,
        body: { password, current_password: 'a good password' },
      })
      expect(changed.json).toMatchObject(refused)
    })
  })
})

describe('links by email', () => {
  const { start } = useServers()

  const textOf = (mail: string | undefined) => mail?.replaceAll('=\r\n', '') ?? ''
  const linkIn = (mail: string | undefined) =>
    /https:\/\/chat\.example\.org\/join#([\w=-]+)/.exec(textOf(mail))?.[1]

  /** A server that sends mail, with an administrator whose address is not confirmed. */
  async function registered() {
    const { smtp, mails } = await startMailServer()
    const server = await start({
      config: { ...multi, smtp, public_url: 'https://chat.example.org' },
    })
    const post = (path: string, body: object, token?: string, language = 'en') =>
      server.call('POST', path, { body, token, headers: { 'accept-language': language } })
    const created = await post('/api/auth/register', {
      ...person('ada'),
      email: 'Ada@example.org',
      link: setupToken(server),
    })
    const ada: string = created.json.data.token
    const addressState = async (token: string) =>
      (await server.call('GET', '/api/auth/confirmations', { token })).json.data
    return { server, mails, post, ada, addressState }
  }

  /** The same, once the address is confirmed. */
  async function confirmed() {
    const one = await registered()
    await one.post('/api/auth/confirmations', {}, one.ada)
    await one.post('/api/auth/confirmations/confirm', { link: linkIn(one.mails[0]) })
    return one
  }

  test('an address is confirmed once, by the link in a mail in the language of whoever asked for it', async () => {
    const { server, mails, post, ada, addressState } = await registered()
    expect((await server.call('GET', '/api/auth/mode')).json.data.mail).toBe(true)
    const requested = await post('/api/auth/confirmations', {}, ada, 'sv, pt;q=0.8')
    expect([requested.status, requested.json]).toMatchObject([
      200,
      { data: { is_confirmed: false } },
    ])
    expect(mails).toHaveLength(1)
    expect(textOf(mails[0])).toContain('abra este link')
    const link = linkIn(mails[0])
    const found = await post('/api/auth/links', { link })
    expect(found.json.data).toMatchObject({ kind: 'confirmation', address: 'Ada@example.org' })
    const confirm = () => post('/api/auth/confirmations/confirm', { link })
    expect((await confirm()).status).toBe(200)
    expect((await confirm()).status).toBe(403)
    expect(await addressState(ada)).toEqual({ address: 'Ada@example.org', is_confirmed: true })
  })

  test('only a confirmed address gets a password link, and responses do not reveal which accounts exist', async () => {
    const { mails, post, ada } = await registered()
    const forget = async (email: string) => {
      const { status, json } = await post('/api/auth/forgotten-password', { email })
      return [status, json]
    }
    const accepted = [200, { code: 0, data: { accepted: true } }]
    // Not confirmed: no mail. The mail that arrives first below is another one.
    expect(await forget('ada@example.org')).toEqual(accepted)
    expect(await forget('nobody@example.org')).toEqual(accepted)
    await post('/api/auth/confirmations', {}, ada)
    expect(mails).toHaveLength(1)
    const confirmation = { link: linkIn(mails[0]) }
    expect((await post('/api/auth/confirmations/confirm', confirmation)).status).toBe(200)
    expect(await forget('ada@EXAMPLE.org')).toEqual(accepted)
    await eventually(() => expect(mails).toHaveLength(2))
  })

  test('a password link works once, and ends the sessions of its account', async () => {
    const { server, mails, post, ada } = await confirmed()
    await post('/api/auth/forgotten-password', { email: 'ada@example.org' })
    await eventually(() => expect(mails).toHaveLength(2))
    const reset = { link: linkIn(mails[1]), password: 'another good password' }
    expect((await post('/api/auth/reset', reset)).status).toBe(200)
    expect((await post('/api/auth/reset', reset)).status).toBe(403)
    const gone = await server.call('GET', '/api/auth/profile', { token: ada })
    expect(gone.status).toBe(401)
  })

  test('whoever only has a session cannot lead the links for a new password elsewhere, and a new address is not confirmed', async () => {
    const { server, ada, addressState } = await confirmed()
    const change = (body: object) => server.call('PATCH', '/api/auth/profile', { token: ada, body })
    const elsewhere = { email: 'eve@example.org' }
    expect((await change(elsewhere)).json).toMatchObject({ reason: 'email_needs_password' })
    expect((await change({ ...elsewhere, current_password: 'guessed' })).status).toBe(403)
    expect((await change({ email: 'Ada@example.org' })).status).toBe(200)
    const { password } = person('ada')
    const moved = { email: 'ada@example.net', current_password: password }
    expect((await change(moved)).json.data.email).toBe('ada@example.net')
    expect(await addressState(ada)).toEqual({ address: 'ada@example.net', is_confirmed: false })
  })

  test('a channel to the address of somebody else asks them first, in the language of whoever made it', async () => {
    const { mails, post, ada } = await confirmed()
    const settings = { to: ['ada@example.org', 'kim@example.org'] }
    await post('/api/channels', { type: 'email', name: 'us', settings }, ada, 'es-MX')
    await eventually(() => expect(mails).toHaveLength(2))
    expect(mails[1]).toMatch(/To: kim@example\.org/)
    expect(textOf(mails[1])).toContain('abre este enlace')
  })
})
