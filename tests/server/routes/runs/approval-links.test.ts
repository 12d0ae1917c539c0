// Links with which a waiting call is decided from anywhere: opening decides nothing, rejecting needs the link, approving the person.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { openEvents } from '../../../support/server/events.ts'
import {
  describeOnEachServer,
  register,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'

const upstream = await useUpstream()
const models = [{ id: 'scripted', api_url: upstream.url }]
const JSON_ONLY = { accept: 'application/json' }

const writing = { name: 'file_write', arguments: { content: 'text\n', path: 'linked.txt' } }
const risky = { name: 'file_mkdir', arguments: { path: 'linked' } }
const tools = { risk: { file_mkdir: 'high' } }
let called: { name: string; arguments: object } = writing
/** The model calls one tool for each user message, and ends with the result. */
beforeEach(() => {
  called = writing
  upstream.program(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? turn.toolCalls([{ id: 'call_1', ...called }])
      : turn.text('Done.'),
  )
})

/** A run that waits for a decision on its call. */
async function waitingRun(server: TestServer, project: string, token?: string) {
  const { json } = await server.call('POST', '/api/conversations', {
    body: { project_id: project },
    token,
  })
  const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
    ...(token === undefined ? {} : { token }),
  })
  const { data } = await stream.next(({ event }) => event === 'approval_required')
  return { stream, run: data.run_id, id: data.approval_id }
}
async function projectOf(server: TestServer, token?: string): Promise<string> {
  const { json } = await server.call('POST', '/api/projects', { body: { name: 'Linked' }, token })
  return json.data.id
}
async function linkOf(server: TestServer, id: string, token?: string, body: object = {}) {
  const { json } = await server.call('POST', `/api/approvals/${id}/link`, { body, token })
  const url = new URL(json.data.url)
  return { ...json.data, path: url.pathname, url }
}

describeOnEachServer('a link to a waiting call', (start) => {
  let server: TestServer
  let project: string
  beforeAll(async () => {
    server = await start({ models, titles: 'off', tools })
    project = await projectOf(server)
  })

  test('shows the call without changing anything, however often it is opened, and decides it once', async () => {
    const { id, stream } = await waitingRun(server, project)
    const link = await linkOf(server, id)
    expect(link.path).toMatch(/^\/a\/[\w-]{43}$/)
    const lifetime = Date.parse(link.expires_at) - Date.now()
    expect(lifetime).toBeGreaterThan(3_500_000)
    expect(lifetime).toBeLessThanOrEqual(3_600_000)
    for (const method of ['GET', 'GET', 'HEAD'])
      expect((await fetch(link.url, { method })).status).toBe(200)
    const shown = await server.call('GET', link.path, { headers: JSON_ONLY })
    expect(shown.json.data).toMatchObject({
      approval: { id, arguments: writing.arguments, state: 'pending', conversation_title: null },
      may_approve: 'yes',
    })
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer')
    expect(shown.headers.get('x-content-type-options')).toBe('nosniff')
    expect(shown.headers.get('x-robots-tag')).toContain('noindex')
    expect(shown.headers.get('x-frame-options')).toBe('DENY')
    expect((await server.call('GET', `/api/approvals/${id}`)).json.data.state).toBe('pending')

    const decided = await server.call('POST', link.path, { body: { decision: 'approve' } })
    expect(decided.status).toBe(200)
    await stream.all()
    expect((await server.call('GET', `/api/approvals/${id}`)).json.data).toMatchObject({
      state: 'approved',
      decided_through: 'link',
    })
    const spent = await server.call('POST', link.path, { body: { decision: 'approve' } })
    const unknown = await server.call('POST', `/a/${'x'.repeat(43)}`, {
      body: { decision: 'approve' },
    })
    const long = await server.call('POST', `/a/${'x'.repeat(2_000)}`, {
      body: { decision: 'approve' },
    })
    expect([spent.status, unknown.status, long.status]).toEqual([410, 410, 410])
    expect(spent.json.message).toBe(unknown.json.message)
    expect((await fetch(link.url)).status).toBe(410)
    // The token is in no line of the log.
    expect(server.logged()).not.toContain(link.path.slice('/a/'.length))
  })

  test('is ended by a decision elsewhere, and made only for what waits, at most ten at once', async () => {
    const { id, run, stream } = await waitingRun(server, project)
    const links = []
    for (let made = 0; made < 10; made += 1) links.push(await linkOf(server, id))
    const [first] = links
    expect((await server.call('POST', `/api/approvals/${id}/link`, { body: {} })).status).toBe(429)
    for (const expires_in of [4, 604_801, 'soon'])
      expect(
        (await server.call('POST', `/api/approvals/${id}/link`, { body: { expires_in } })).status,
      ).toBe(400)
    await server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref: 'call_1', decision: 'reject' },
    })
    await stream.all()
    expect(
      (await server.call('POST', first?.path ?? '', { body: { decision: 'reject' } })).status,
    ).toBe(410)
    expect(await server.call('POST', `/api/approvals/${id}/link`, { body: {} })).toMatchObject({
      status: 409,
      json: { error: 'already_decided' },
    })
    expect((await server.call('POST', '/api/approvals/none/link', { body: {} })).status).toBe(404)
  })

  test('expires', async () => {
    const { id, run } = await waitingRun(server, project)
    const link = await linkOf(server, id, undefined, { expires_in: 5 })
    await expect
      .poll(async () => (await server.call('GET', link.path, { headers: JSON_ONLY })).status, {
        timeout: 8_000,
      })
      .toBe(410)
    expect((await server.call('POST', link.path, { body: { decision: 'reject' } })).status).toBe(
      410,
    )
    expect((await server.call('GET', `/api/approvals/${id}`)).json.data.state).toBe('pending')
    await server.call('POST', `/api/runs/${run}/stop`)
  })

  test('with an Idempotency-Key is another each time, because its token is stored nowhere', async () => {
    const { id, run } = await waitingRun(server, project)
    const make = () =>
      server.call('POST', `/api/approvals/${id}/link`, {
        body: {},
        headers: { 'idempotency-key': 'one' },
      })
    const [one, other] = [await make(), await make()]
    expect(one.json.data.url).not.toBe(other.json.data.url)
    await server.call('POST', `/api/runs/${run}/stop`)
  })

  test('of a call with high risk only rejects', async () => {
    called = risky
    const { id, stream } = await waitingRun(server, project)
    expect((await server.call('GET', `/api/approvals/${id}`)).json.data.risk_level).toBe('high')
    const link = await linkOf(server, id)
    expect(await server.call('POST', link.path, { body: { decision: 'approve' } })).toMatchObject({
      status: 403,
      json: { error: 'open_the_page' },
    })
    expect(
      (await server.call('GET', link.path, { headers: JSON_ONLY })).json.data.may_approve,
    ).toBe('open_the_page')
    expect(
      (await server.call('POST', link.path, { body: { decision: 'reject', reason: 'no' } })).status,
    ).toBe(200)
    await stream.all()
    expect((await server.call('GET', `/api/approvals/${id}`)).json.data).toMatchObject({
      state: 'rejected',
      reason: 'no',
    })
  })

  test('that does not exist is refused with 429 after twenty from one network', async () => {
    const statuses: number[] = []
    for (let tried = 0; tried < 24; tried += 1)
      statuses.push(
        (await server.call('POST', `/a/unknown-${tried}`, { body: { decision: 'reject' } })).status,
      )
    expect(statuses.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 410))
    expect(statuses.at(-1)).toBe(429)
    // Others are not locked out of theirs.
    const { id, run } = await waitingRun(server, project)
    const link = await linkOf(server, id)
    expect((await server.call('GET', link.path, { headers: JSON_ONLY })).status).toBe(200)
    await server.call('POST', `/api/runs/${run}/stop`)
  })
})

describe('a link on a server with accounts', () => {
  const { start } = useServers()
  let server: TestServer
  let ada: string
  let bob: string
  let project: string
  beforeAll(async () => {
    server = await start({
      config: {
        models,
        tools,
        titles: 'off',
        auth_mode: 'multi',
        registration: 'open',
        jwt_secret: 'a-secret-of-the-tests-0123456789abcdef',
        approval: { link_high: true },
      },
    })
    ada = await register(server, 'ada')
    bob = await register(server, 'bob')
    project = await projectOf(server, ada)
  })

  test('approves for its person alone, signed in, and rejects for whoever has it', async () => {
    const { id, stream } = await waitingRun(server, project, ada)
    expect(
      (await server.call('POST', `/api/approvals/${id}/link`, { body: {}, token: bob })).status,
    ).toBe(404)
    const link = await linkOf(server, id, ada)
    const { json } = await server.call('POST', '/api/auth/keys', {
      body: { name: 'program' },
      token: ada,
    })
    for (const token of [undefined, bob, json.data.key, 'nonsense'])
      expect(
        await server.call('POST', link.path, { body: { decision: 'approve' }, token }),
      ).toMatchObject({ status: 401, json: { reason: 'sign_in_required' } })
    const seen = await server.call('GET', link.path, { headers: JSON_ONLY })
    expect(seen.json.data.may_approve).toBe('sign_in_required')
    expect(
      (await server.call('POST', link.path, { body: { decision: 'approve' }, token: ada })).status,
    ).toBe(200)
    await stream.all()

    const second = await waitingRun(server, project, ada)
    const other = await linkOf(server, second.id, ada)
    expect((await server.call('POST', other.path, { body: { decision: 'reject' } })).status).toBe(
      200,
    )
    await second.stream.all()
    const audit = await server.call('GET', '/api/admin/audit?limit=20', { token: ada })
    const entries = audit.json.data.items.filter(({ action }: { action: string }) =>
      ['approval_decided', 'approval_link_created'].includes(action),
    )
    expect(entries).toMatchObject([
      { action: 'approval_decided', details: { by: 'link', signed_in: false } },
      { action: 'approval_link_created', details: { approval_id: second.id } },
      { action: 'approval_decided', username: 'ada', details: { by: 'link', signed_in: true } },
      { action: 'approval_link_created', details: { approval_id: id } },
    ])
  })

  test('answers a decision as it would without its Idempotency-Key, and reads no long body of a stranger', async () => {
    const { id, stream } = await waitingRun(server, project, ada)
    const link = await linkOf(server, id, ada)
    const send = (path: string, body: object, token?: string) =>
      server.call('POST', path, { body, token, headers: { 'idempotency-key': 'one' } })
    const unknown = await send(`/a/${'x'.repeat(43)}`, { decision: 'reject' })
    expect(unknown.status).toBe(410)
    expect((await send(link.path, { decision: 'approve' })).status).toBe(401)
    const long = { decision: 'reject', reason: 'x'.repeat(100_000) }
    expect((await send(link.path, long)).status).toBe(413)
    expect((await send(link.path, { decision: 'approve' }, ada)).status).toBe(200)
    await stream.all()
    const again = await send(link.path, { decision: 'approve' }, ada)
    expect(again.status).toBe(410)
    expect(again.headers.get('idempotency-replayed')).toBeNull()
  })

  test('approves a call with high risk where the configuration allows it', async () => {
    called = risky
    const { id, stream } = await waitingRun(server, project, ada)
    const link = await linkOf(server, id, ada)
    expect(
      (await server.call('POST', link.path, { body: { decision: 'approve' }, token: ada })).status,
    ).toBe(200)
    await stream.all()
  })
})
