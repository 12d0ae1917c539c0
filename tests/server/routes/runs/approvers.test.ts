// Approvers decide the calls of other people's runs in a project; with `approval_by: others`, they alone decide those of high risk.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { openEvents } from '../../../support/server/events.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'

const upstream = await useUpstream()
const models = [{ id: 'scripted', api_url: upstream.url }]
const multi = { auth_mode: 'multi', registration: 'open', jwt_secret: TEST_JWT_SECRET }
const writing = { name: 'file_write', arguments: { content: 'text\n', path: 'decided.txt' } }
const risky = { name: 'file_mkdir', arguments: { path: 'decided' } }
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

describeOnEachServer('approvers of a project', (start) => {
  let server: TestServer
  let admin: string
  let olga: string
  let petra: string
  let gina: string
  let stan: string
  let project: string
  let group: string
  const idOf = async (token: string): Promise<string> =>
    (await server.call('GET', '/api/auth/profile', { token })).json.data.id
  const set = (body: object, token = olga) =>
    server.call('PUT', `/api/projects/${project}`, { body, token })
  const get = async (id: string, token: string) =>
    (await server.call('GET', `/api/approvals/${id}`, { token })).json.data
  const listed = async (token: string, query = ''): Promise<string[]> =>
    (await server.call('GET', `/api/approvals${query}`, { token })).json.data.items.map(
      ({ id }: { id: string }) => id,
    )
  const decide = (run: string, token: string, body: object = {}) =>
    server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref: 'call_1', decision: 'approve', ...body },
      token,
    })
  const audit = async (action: string) =>
    (await server.call('GET', `/api/admin/audit?action=${action}&limit=1`, { token: admin })).json
      .data.items[0]

  /** A run of Olga that waits. */
  async function waitingRun(conversation: object = {}) {
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project, title: 'A secret plan', ...conversation },
      token: olga,
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
      token: olga,
    })
    const { data } = await stream.next(({ event }) => event === 'approval_required')
    return { conversation: json.data.id, stream, run: data.run_id, id: data.approval_id }
  }

  beforeAll(async () => {
    server = await start({
      ...multi,
      models,
      titles: 'off',
      tools: { risk: { file_mkdir: 'high' } },
      code_execution: { pool_size: 0, default_strictness: 'strict' },
    })
    admin = await register(server, 'admin')
    olga = await register(server, 'olga')
    petra = await register(server, 'petra')
    gina = await register(server, 'gina')
    stan = await register(server, 'stan')
    const made = await server.call('POST', '/api/projects', { body: { name: 'P' }, token: olga })
    project = made.json.data.id
    const grouped = await server.call('POST', '/api/admin/groups', {
      body: { name: 'Deciders' },
      token: admin,
    })
    group = grouped.json.data.id
    await server.call('PUT', `/api/admin/groups/${group}/members/${await idOf(gina)}`, {
      token: admin,
    })
  })
  beforeEach(async () => {
    await set({
      approvers: [`user:${await idOf(petra)}`, `group:${group}`],
      approval_by: 'anyone',
    })
  })

  test('are set by the owner alone, at most twenty that exist, with one entry of the audit log', async () => {
    const approvers = [`group:${group}`, `user:${await idOf(petra)}`]
    const read = await server.call('GET', `/api/projects/${project}`, { token: olga })
    expect(read.json.data).toMatchObject({ approvers, approval_by: 'anyone' })
    expect((await set({ name: 'P' })).json.data).toMatchObject({ approvers })
    const before = await audit('approvers_changed')
    expect(before).toMatchObject({
      username: 'olga',
      details: { id: project, approvers: approvers.join(', ') },
    })

    for (const token of [petra, gina, stan, admin]) {
      expect((await set({ approvers: [] }, token)).status).toBe(404)
      expect((await server.call('GET', `/api/projects/${project}`, { token })).status).toBe(404)
    }
    const nobody = await set({ name: 'Other', approvers: ['user:nobody'] })
    expect(nobody).toMatchObject({ status: 400, json: { reason: 'approver_unknown' } })
    expect(nobody.json.message).toContain('user:nobody')
    const many = Array.from({ length: 21 }, (_, index) => `user:${index}`)
    for (const wrong of [['petra'], ['user:'], many, 'user:x'])
      expect((await set({ approvers: wrong })).status).toBe(400)
    expect((await set({ approval_by: 'nobody' })).status).toBe(400)
    const same = await server.call('GET', `/api/projects/${project}`, { token: olga })
    expect(same.json.data).toMatchObject({ name: 'P', approvers, approval_by: 'anyone' })
    expect((await audit('approvers_changed')).id).toBe(before.id)

    // By name, in any case of its letters, and each once.
    const named = await set({ approvers: ['user:@Petra', `user:${await idOf(petra)}`] })
    expect(named.json.data).toMatchObject({
      approvers: [`user:${await idOf(petra)}`],
      approver_names: ['petra'],
    })
    const unknown = await set({ approvers: ['group:@petra'] })
    expect(unknown).toMatchObject({ status: 400, json: { reason: 'approver_unknown' } })
    await set({ approvers })

    await set({ approval_by: 'others' })
    expect(await audit('approvers_changed')).toMatchObject({
      details: { approval_by: 'others', approval_by_before: 'anyone' },
    })
  })

  test('see the requests of the project with whose they are, but not the conversation', async () => {
    const { id, run, stream } = await waitingRun()
    const own = await get(id, olga)
    expect(own).toMatchObject({ conversation_title: 'A secret plan', person: null })
    for (const token of [petra, gina]) {
      expect(await listed(token)).toEqual([id])
      expect(await listed(token, `?project_id=${project}`)).toEqual([id])
      expect(await listed(token, '?project_id=another')).toEqual([])
      expect(await get(id, token)).toEqual({
        ...own,
        conversation_title: null,
        person: { id: await idOf(olga), name: 'olga' },
      })
    }
    expect(own.preview.diff).toContain('+text')
    expect(await listed(stan)).toEqual([])
    expect((await server.call('GET', `/api/approvals/${id}`, { token: stan })).status).toBe(404)

    // Who is no approver any more sees it no more.
    await set({ approvers: [`group:${group}`] })
    expect(await listed(petra)).toEqual([])
    expect((await decide(run, petra)).status).toBe(404)
    await server.call('DELETE', `/api/admin/groups/${group}/members/${await idOf(gina)}`, {
      token: admin,
    })
    expect((await decide(run, gina)).status).toBe(404)
    await server.call('PUT', `/api/admin/groups/${group}/members/${await idOf(gina)}`, {
      token: admin,
    })
    await decide(run, olga)
    await stream.all()
    expect(await listed(gina, '?state=decided')).toContain(id)
  })

  test('see those of members whose conversation is no longer in the project', async () => {
    const member = `/api/projects/${project}/members/user:@stan`
    await server.call('PUT', member, { body: { role: 'edit' }, token: olga })
    const made = await server.call('POST', '/api/conversations', {
      body: { project_id: project },
      token: stan,
    })
    const conversation = `/api/conversations/${made.json.data.id}`
    const stream = await openEvents(`${server.url}${conversation}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
      token: stan,
    })
    const { data } = await stream.next(({ event }) => event === 'approval_required')
    await server.call('PATCH', conversation, { body: { project_id: null }, token: stan })
    expect(await listed(petra)).toEqual([data.approval_id])
    expect(await get(data.approval_id, gina)).toMatchObject({ person: { name: 'stan' } })
    expect((await decide(data.run_id, petra)).status).toBe(200)
    await stream.all()
    expect(await listed(gina, '?state=decided')).toContain(data.approval_id)
    await server.call('DELETE', member, { token: olga })
  })

  test('decide once, as they are shown the call, and the log and the request say who it was', async () => {
    const { id, run, stream } = await waitingRun()
    const { call_hash } = await get(id, petra)
    for (const body of [
      { arguments: { path: 'x', content: '' } },
      { remember: 'run' },
      { remember: 'conversation' },
      { remember: 'grant', grant: { scope: 'project', match: { path: { any: true } } } },
    ])
      expect(await decide(run, petra, body)).toMatchObject({
        status: 403,
        json: { error: 'not_yours' },
      })
    expect((await decide(run, petra, { call_hash: '0'.repeat(64) })).status).toBe(409)
    expect((await get(id, olga)).state).toBe('pending')

    const decided = await decide(run, petra, { call_hash })
    expect(decided).toMatchObject({ status: 200, json: { data: { id: run } } })
    expect((await stream.all()).at(-1)).toMatchObject({ event: 'done' })
    const person = { id: await idOf(petra), name: 'petra' }
    for (const token of [olga, petra, gina])
      expect(await get(id, token)).toMatchObject({
        state: 'approved',
        decided_by: person,
        decided_through: 'page',
      })
    expect(await decide(run, gina)).toMatchObject({
      status: 409,
      json: { error: 'already_decided' },
    })
    expect(await audit('approval_decided')).toMatchObject({
      username: 'petra',
      details: { id: run, decision: 'approve', run_of: await idOf(olga) },
    })
  })

  test('learn of requests and decisions while their page is open', async () => {
    const events = await openEvents(`${server.url}/api/events`, { token: gina })
    await events.next(({ event }) => event === 'ready')
    const { id, run, stream } = await waitingRun()
    const isOf =
      (change: string) =>
      ({ event, data }: { event: string; data: { id?: string; change?: string } }) =>
        event === 'approval' && data.id === id && data.change === change
    expect((await events.next(isOf('created'))).data).toMatchObject({ run_id: run })
    await decide(run, olga)
    await events.next(isOf('updated'))
    expect(events.events.filter(({ event }) => event === 'run' || event === 'message')).toEqual([])
    events.leave()
    await stream.all()
  })

  test('decide with a link of their own, which approves for them alone', async () => {
    const { id, stream } = await waitingRun()
    const made = await server.call('POST', `/api/approvals/${id}/link`, { body: {}, token: gina })
    const path = new URL(made.json.data.url).pathname
    for (const token of [olga, petra, undefined])
      expect(
        (await server.call('POST', path, { body: { decision: 'approve' }, token })).status,
      ).toBe(401)
    expect(
      (await server.call('POST', path, { body: { decision: 'approve' }, token: gina })).status,
    ).toBe(200)
    await stream.all()
    expect(await get(id, olga)).toMatchObject({
      state: 'approved',
      decided_by: { name: 'gina' },
      decided_through: 'link',
    })
  })

  test('decide what has high risk where others must, whatever the mode and the grants of the person', async () => {
    called = risky
    const granted = await server.call('POST', '/api/grants', {
      body: {
        scope: 'project',
        scope_id: project,
        tool: 'file_mkdir',
        match: { path: { any: true } },
      },
      token: olga,
    })
    expect(granted.status).toBe(200)
    await set({ approval_by: 'others' })
    const { id, run, stream } = await waitingRun({ approval: 'auto' })
    for (const decision of ['approve', 'reject'])
      expect(await decide(run, olga, { decision })).toMatchObject({
        status: 403,
        json: { error: 'someone_else_must_decide' },
      })
    expect(
      await server.call('POST', `/api/approvals/${id}/link`, { body: {}, token: olga }),
    ).toMatchObject({ status: 403, json: { error: 'someone_else_must_decide' } })
    expect((await get(id, olga)).state).toBe('pending')
    expect((await decide(run, petra)).status).toBe(200)
    await stream.all()
    expect(await get(id, olga)).toMatchObject({ state: 'approved', decided_by: { name: 'petra' } })
    await server.call('DELETE', `/api/grants/${granted.json.data.id}`, { token: olga })
  })

  test('cannot be evaded with changed arguments that make the risk high', async () => {
    called = { name: 'execute_python', arguments: { code: '1', strictness: 'standard' } }
    await set({ approval_by: 'others' })
    const { id, run, stream } = await waitingRun()
    expect((await get(id, olga)).risk_level).toBe('medium')
    const changed = { arguments: { code: '1', strictness: 'lenient' } }
    expect(await decide(run, olga, changed)).toMatchObject({
      status: 403,
      json: { error: 'someone_else_must_decide' },
    })
    await decide(run, olga, { decision: 'reject' })
    await stream.all()
  })

  test('make a link that the person has made before useless', async () => {
    called = risky
    const { id, run, stream } = await waitingRun()
    const made = await server.call('POST', `/api/approvals/${id}/link`, { body: {}, token: olga })
    const path = new URL(made.json.data.url).pathname
    await set({ approval_by: 'others' })
    expect(
      await server.call('POST', path, { body: { decision: 'reject' }, token: olga }),
    ).toMatchObject({ status: 403, json: { error: 'someone_else_must_decide' } })
    await decide(run, gina, { decision: 'reject', reason: 'Not now' })
    await stream.all()
    expect(await get(id, olga)).toMatchObject({
      state: 'rejected',
      reason: 'Not now',
      decided_by: { name: 'gina' },
    })
  })

  test('leave calls of medium risk to the person, also where others decide those of high risk', async () => {
    await set({ approval_by: 'others' })
    const { run, stream } = await waitingRun()
    expect((await decide(run, olga)).status).toBe(200)
    await stream.all()
  })
})

describe('a server without accounts', () => {
  const { start } = useServers()

  test('has no approvers', async () => {
    const server = await start({ config: { models, titles: 'off' } })
    const made = await server.call('POST', '/api/projects', { body: { name: 'Alone' } })
    const set = (body: object) => server.call('PUT', `/api/projects/${made.json.data.id}`, { body })
    for (const body of [{ approval_by: 'others' }, { approvers: ['user:x'] }])
      expect(await set(body)).toMatchObject({
        status: 400,
        json: { reason: 'approvers_need_accounts' },
      })
    expect((await set({ approval_by: 'anyone', approvers: [] })).status).toBe(200)
  })
})
