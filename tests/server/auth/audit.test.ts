// The audit log: what it records, who may read it, filters, export and retention; search of accounts; on both databases.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { sourceFiles } from '../../support/code/source-files.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }

describeOnEachServer('the audit log', (start) => {
  let server: TestServer
  let admin = ''
  beforeAll(async () => {
    server = await start(multi)
    admin = await register(server, 'ada')
  })
  const get = async (query: string, token = admin) =>
    server.call('GET', `/api/admin/audit${query}`, { token })
  const login = (username: string, password: string) =>
    server.call('POST', '/api/auth/login', { body: { username, password } })

  test('sign-ins, failures, keys and administrative actions are recorded with actor and target, and without secrets', async () => {
    const bob = await register(server, 'bob')
    const id = (await server.call('GET', '/api/auth/profile', { token: bob })).json.data.id
    await login('BOB', 'a good password')
    await login('bob', 'my secret mistake')
    await login('typed my secret here', 'x')
    const { key } = (
      await server.call('POST', '/api/auth/keys', {
        token: bob,
        body: { name: 'backup', scopes: ['read'] },
      })
    ).json.data
    const invited = await server.call('POST', '/api/admin/invitations', {
      token: admin,
      body: { role: 'admin' },
    })
    // Refused requests change nothing and are not recorded.
    await server.call('PATCH', `/api/admin/users/${id}`, { token: bob, body: { role: 'admin' } })
    await server.call('PATCH', `/api/admin/users/${id}`, { token: admin, body: { role: 'admin' } })
    await server.call('DELETE', `/api/admin/users/${id}/sessions`, { token: admin })
    expect((await server.call('GET', '/api/auth/profile', { token: bob })).status).toBe(401)
    expect((await server.call('GET', '/api/auth/profile', { token: key })).status).toBe(200)

    const { items } = (await get('?limit=100')).json.data
    const seen = items
      .toReversed()
      .map(({ action, username }: { action: string; username: string | null }) => [
        action,
        username,
      ])
    expect(seen).toEqual([
      ['register', 'ada'],
      ['register', 'bob'],
      ['sign_in', 'bob'],
      ['sign_in_failed', 'bob'],
      ['sign_in_failed', null],
      ['key_created', 'bob'],
      ['invitation_created', 'ada'],
      ['account_changed', 'ada'],
      ['sessions_ended', 'ada'],
    ])
    expect(items[1]).toMatchObject({
      address: '127.0.0.1',
      details: { id, role: 'admin' },
      user_id: expect.any(String),
    })
    expect(items[3].details).toMatchObject({ name: 'backup', scopes: 'read' })
    const text = JSON.stringify(items)
    for (const secret of ['my secret', 'a good password', key, invited.json.data.token])
      expect(text).not.toContain(secret)
  })

  test('keeps its entries as they are: no route and no code changes or removes one before its time', async () => {
    const [entry] = (await get('')).json.data.items
    for (const path of ['/api/admin/audit', `/api/admin/audit/${entry.id}`])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        expect((await server.call(method, path, { token: admin, body: {} })).status).toBe(404)
    const statements = sourceFiles('server').flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /\.(insert|update|delete)\(\s*(?:\w+\.)*auditEntries\s*\)|(insert into|update|delete from)\s+"?audit_entries\b/g,
        ),
      ].map(([, built, written]) => `${relative(process.cwd(), file)}: ${built ?? written}`),
    )
    // What is older than its retention time is deleted; the last test of this file says so. A backup writes that it was made.
    expect(statements.sort()).toEqual([
      'server/db/backup.ts: insert into',
      'server/db/repositories/accounts/audit.ts: delete',
      'server/db/repositories/accounts/audit.ts: insert',
      'server/db/repositories/accounts/audit.ts: insert',
    ])
  })

  test('the filter by user shows registrations, sign-ins and failed sign-ins of the account', async () => {
    const cyd = await register(server, 'cyd')
    const { id } = (await server.call('GET', '/api/auth/profile', { token: cyd })).json.data
    await login('cyd', 'a good password')
    await login('Cyd', 'not it')
    const { items } = (await get(`?user_id=${id}`)).json.data
    expect(items.map(({ action, username }: Record<string, string>) => [action, username])).toEqual(
      [
        ['sign_in_failed', 'cyd'],
        ['sign_in', 'cyd'],
        ['register', 'cyd'],
      ],
    )
  })

  test('a link for a new password, a new password, the export of a conversation and the end of an account are recorded with actor and target', async () => {
    const dot = await register(server, 'dot')
    const { id } = (await server.call('GET', '/api/auth/profile', { token: dot })).json.data
    const created = await server.call('POST', '/api/conversations', { token: dot, body: {} })
    const conversation = created.json.data.id
    await fetch(`${server.url}/api/conversations/${conversation}/export?format=json`, {
      headers: { authorization: `Bearer ${dot}` },
    })
    const link = await server.call('POST', `/api/admin/users/${id}/reset-link`, { token: admin })
    await server.call('POST', '/api/auth/reset', {
      body: { link: link.json.data.token, password: 'another good password' },
    })
    await server.call('DELETE', `/api/admin/users/${id}`, { token: admin })
    const { items } = (await get('?limit=4')).json.data
    expect(
      items.map(({ action, username, address, details }: Record<string, unknown>) => [
        action,
        username,
        address,
        details,
      ]),
    ).toEqual([
      ['account_deleted', 'ada', '127.0.0.1', { id, account: 'dot', data: 'delete' }],
      ['password_reset', 'dot', '127.0.0.1', { revoke_keys: false }],
      ['reset_link_created', 'ada', '127.0.0.1', { id, account: 'dot' }],
      ['exported', 'dot', '127.0.0.1', { id: conversation, format: 'json' }],
    ])
  })

  test('a request that only repeats the response to an earlier one is not recorded again', async () => {
    const create = () =>
      server.call('POST', '/api/admin/groups', {
        token: admin,
        body: { name: 'Once' },
        headers: { 'idempotency-key': 'once' },
      })
    const { json } = await create()
    expect((await create()).json).toEqual(json)
    const { items } = (await get('?action=group_created')).json.data
    expect(items.map(({ details }: { details: object }) => details)).toEqual([{ name: 'Once' }])
  })

  test('a change of limits is recorded with their owner and each value before and after', async () => {
    const { items: accounts } = (
      await server.call('GET', '/api/admin/users?q=bob', { token: admin })
    ).json.data
    const change = (method: string, path: string, body: object) =>
      server.call(method, `/api/admin/${path}`, { token: admin, body })
    const user = `users/${accounts[0].id}`
    await change('PATCH', user, { quota: { tokens_per_day: 500, storage: 9 } })
    await change('PATCH', user, { quota: { tokens_per_day: 700, storage: 9 } })
    await change('PATCH', user, { quota: { tokens_per_day: null } })
    const { id } = (
      await change('POST', 'groups', { name: 'Readers', quota: { messages_per_day: 1 } })
    ).json.data
    await change('PATCH', `groups/${id}`, {
      quota: { messages_per_day: 2 },
      shared_quota: { cost_per_month: 3 },
    })
    await change('POST', 'invitations', { quota: { concurrent_runs: 4 } })
    const { items } = (await get('?limit=6')).json.data
    expect(items.toReversed().map(({ details }: { details: object }) => details)).toEqual([
      { id: accounts[0].id, account: 'bob', tokens_per_day: 'none → 500', storage: 'none → 9' },
      { id: accounts[0].id, account: 'bob', tokens_per_day: '500 → 700' },
      { id: accounts[0].id, account: 'bob', tokens_per_day: '700 → none' },
      { name: 'Readers', messages_per_day: 'none → 1' },
      { id, group: 'Readers', messages_per_day: '1 → 2', shared_cost_per_month: 'none → 3' },
      { role: 'user', concurrent_runs: 'none → 4' },
    ])
  })

  test('can be filtered, paged and exported by administrators only', async () => {
    const failures = (await get('?action=sign_in_failed&limit=2')).json.data
    expect(failures.items).toHaveLength(2)
    const rest = (await get(`?action=sign_in_failed&cursor=${failures.next_cursor}`)).json.data
    expect([rest.items.length, rest.has_more]).toEqual([1, false])
    expect(
      (await get(`?from=${new Date(Date.now() + 60_000).toISOString()}`)).json.data.items,
    ).toEqual([])
    expect((await get('?action=nonsense')).status).toBe(400)
    const file = await fetch(`${server.url}/api/admin/audit/file?action=register`, {
      headers: { authorization: `Bearer ${admin}` },
    })
    const lines = (await file.text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).username)).toEqual(['dot', 'cyd', 'bob', 'ada'])
    const eve = await register(server, 'eve')
    expect([(await get('', eve)).status, (await get('/file', eve)).status]).toEqual([403, 403])
  })

  test('the reuse of a replaced session cookie is recorded with the address it came from', async () => {
    const body = { username: 'bob', password: 'a good password', cookie: true }
    const cookieOf = ({ headers }: { headers: Headers }): string =>
      headers.get('set-cookie')?.split(';')[0] ?? ''
    const refresh = (cookie: string) =>
      server.call('POST', '/api/auth/refresh', { headers: { cookie } })
    const first = cookieOf(await server.call('POST', '/api/auth/login', { body }))
    const second = cookieOf(await refresh(first))
    expect((await refresh(second)).status).toBe(200)
    expect((await refresh(first)).status).toBe(401)
    const { items } = (await get('?action=session_reused')).json.data
    expect(items).toMatchObject([{ username: 'bob', address: '127.0.0.1' }])
  })

  test('accounts can be searched by name, address, role and state', async () => {
    const names = async (query: string) =>
      (await server.call('GET', `/api/admin/users?${query}`, { token: admin })).json.data.items.map(
        ({ username }: { username: string }) => username,
      )
    expect(await names('q=B')).toEqual(['bob'])
    expect(await names('q=%25')).toEqual([])
    expect(await names('role=user')).toEqual(['eve', 'cyd'])
    expect(await names('is_active=false')).toEqual([])
  })
})

describeOnEachDatabase('the entries of the audit log', (open) => {
  test('are removed after their retention time, and not before', async () => {
    const { audit } = createStore(await open())
    const entry = {
      action: 'sign_in',
      userId: null,
      username: 'ada',
      address: null,
      details: {},
    } as const
    await audit.add({ ...entry, at: new Date('2026-01-01T00:00:00Z') })
    await audit.add({ ...entry, at: new Date('2026-02-01T00:00:00Z') })
    await audit.removeBefore(new Date('2026-01-15T00:00:00Z'))
    const { items } = await audit.list({}, { limit: 10 })
    expect(items.map(({ at }) => at.toISOString())).toEqual(['2026-02-01T00:00:00.000Z'])
  })
})
