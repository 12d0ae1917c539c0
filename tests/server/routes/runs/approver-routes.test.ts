// An approver of a project reaches no route of the runs, conversations and projects of others but that of the decision.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { openEvents } from '../../../support/server/events.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../../support/server/server.ts'

const upstream = await useUpstream()
beforeEach(() => {
  upstream.program(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? turn.toolCalls([
          { id: 'call_1', name: 'file_write', arguments: { content: 'text', path: 'a.txt' } },
        ])
      : turn.text('Done.'),
  )
})

/** The part of the reference that names the routes. */
const Reference = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** Bodies that the routes accept, so that only the place is refused. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /api/conversations/{id}/background': { task: 'Work' },
  'POST /api/conversations/{id}/messages': { text: 'Hello' },
  'POST /api/conversations/{id}/messages/{mid}/revisions': { text: 'Changed' },
  'POST /api/conversations/{id}/python': { code: '1' },
  'PATCH /api/conversations/{id}/messages/{mid}': { text: 'Changed' },
  'PUT /api/conversations/{id}/messages/{mid}/feedback': { feedback: null },
  'POST /api/runs/{id}/inputs': { id_ref: 'call_1', action: 'decline' },
  'PUT /api/runs/{id}/plan': { items: [] },
  'POST /api/runs/{id}/apps/{id_ref}/call': { name: 'tool', arguments: {} },
  'PUT /api/runs/{id}/apps/{id_ref}/context': { text: 'State' },
}

describeOnEachServer('the routes of a run in a project with approvers', (start) => {
  let server: TestServer
  let owner: string
  let approver: string
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      auth_mode: 'multi',
      registration: 'open',
      jwt_secret: TEST_JWT_SECRET,
    })
    owner = await register(server, 'owner')
    approver = await register(server, 'approver')
  })

  test('are not found by an approver, who decides nevertheless', async () => {
    const call = (method: string, path: string, body?: unknown, token = owner) =>
      server.call(method, path, { token, ...(body === undefined ? {} : { body }) })
    const { id: user } = (await call('GET', '/api/auth/profile', undefined, approver)).json.data
    const project = (await call('POST', '/api/projects', { name: 'P' })).json.data.id
    await call('PUT', `/api/projects/${project}`, { approvers: [`user:${user}`] })
    const made = await call('POST', '/api/conversations', { project_id: project })
    const conversation = made.json.data.id
    const stream = await openEvents(`${server.url}/api/conversations/${conversation}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
      token: owner,
    })
    const { data } = await stream.next(({ event }) => event === 'approval_required')
    const run = (await call('GET', `/api/runs/${data.run_id}`)).json.data

    const reference = await fetch(`${server.url}/openapi.json`, {
      headers: { authorization: `Bearer ${owner}` },
    })
    const { paths } = Reference.parse(await reference.json())
    const routes = Object.entries(paths)
      .filter(([path]) => /^\/api\/(?:runs|conversations)\/\{id\}/.test(path))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      )
      .filter((route) => route !== 'POST /api/runs/{id}/approvals')
    expect(routes.length).toBeGreaterThan(25)
    const answers: string[] = []
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ')
      const target = path
        .replace('/runs/{id}', `/runs/${run.id}`)
        .replace('/conversations/{id}', `/conversations/${conversation}`)
        .replace('{mid}', run.message_id)
        .replaceAll(/\{\w+\}/g, '1')
      const body = method === 'GET' || method === 'DELETE' ? undefined : (BODIES[route] ?? {})
      answers.push(`${route}: ${(await call(method, target, body, approver)).status}`)
    }
    expect(answers).toEqual(routes.map((route) => `${route}: 404`))
    for (const list of ['/api/runs', '/api/conversations', '/api/projects'])
      expect((await call('GET', list, undefined, approver)).json.data.items).toEqual([])

    expect((await call('GET', `/api/runs/${run.id}`)).json.data.status).toBe('awaiting_approval')
    const decision = { id_ref: 'call_1', decision: 'reject' }
    const decided = await call('POST', `/api/runs/${run.id}/approvals`, decision, approver)
    expect(decided.status).toBe(200)
    await stream.all()
  })

  test('of a grant neither: no rule is made from a call of somebody else', async () => {
    const { items } = (
      await server.call('GET', '/api/approvals?state=decided', { token: approver })
    ).json.data
    const own = (
      await server.call('POST', '/api/projects', { body: { name: 'Own' }, token: approver })
    ).json.data.id
    const preview = await server.call('POST', '/api/grants/preview', {
      body: { scope: 'project', scope_id: own, tool: 'file_write', approval_id: items[0].id },
      token: approver,
    })
    expect(preview).toMatchObject({ status: 404, json: { reason: 'approval_unknown' } })
  })
})
