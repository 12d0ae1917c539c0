// Grants: a person allows calls like one that they approved; those run without a question, are counted, and can be asked about again.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { startWebSite, type WebSite } from '../../support/web-site.ts'

const upstream = await useUpstream()
let site: WebSite
beforeAll(async () => {
  site = await startWebSite()
  site.serve('/page', 'text/plain', 'Write it down.')
})
afterAll(() => site.close())

/** A call as the test's messages name it: `write a/b.txt text`, `fetch`. */
const callOf = (line: string, id: string) => {
  const [what, path = '', content = ''] = line.split(' ')
  return what === 'fetch'
    ? { id, name: 'fetch_page', arguments: { url: `${site.origin}/page` } }
    : {
        id,
        name: what === 'delete' ? 'file_delete' : 'file_write',
        arguments: what === 'delete' ? { path } : { path, content },
      }
}

describeOnEachServer('grants', (start) => {
  let server: TestServer
  let project: string
  let calls = 0
  let projects = 0
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      network: { allow_private: ['127.0.0.1'] },
    })
  })
  beforeEach(async () => {
    projects += 1
    const { json } = await server.call('POST', '/api/projects', {
      body: { name: `Granted ${projects}` },
    })
    project = json.data.id
    upstream.program(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return turn.text('Done.')
      const lines = String(last.content).split('\n').at(-1)?.split(', ') ?? []
      return turn.toolCalls(
        lines.map((line) => {
          calls += 1
          return callOf(line, `call_${calls}`)
        }),
      )
    })
  })

  const call = async (method: string, path: string, body?: unknown) =>
    await server.call(method, path, body === undefined ? {} : { body })
  const conversation = async (): Promise<string> =>
    (await call('POST', '/api/conversations', { project_id: project })).json.data.id
  /** Sends a message; the calls that the model then makes are its lines. */
  async function say(id: string, text: string) {
    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text, stream_mode: 'delta' },
    })
    const { data: run } = await stream.next(({ event }) => event === 'run')
    return { stream, run: run.run_id as string }
  }
  /** What the person is asked about, or null if the run ends without a question. */
  async function asked(id: string, text: string) {
    const { stream, run } = await say(id, text)
    const { event, data } = await stream.next(({ event: name }) =>
      ['approval_required', 'done', 'error'].includes(name),
    )
    if (event !== 'approval_required') return null
    return { ...data, run, stream }
  }
  async function decide(id: string, text: string, body: object) {
    const request = await asked(id, text)
    if (request === null) throw new Error(`Nobody was asked about ${text}`)
    const answer = await call('POST', `/api/runs/${request.run}/approvals`, {
      id_ref: request.id_ref,
      call_hash: request.call_hash,
      ...body,
    })
    if (answer.status === 200) await request.stream.all()
    return { ...answer, request }
  }
  const isAsked = async (id: string, text: string): Promise<boolean> => {
    const request = await asked(id, text)
    if (request === null) return false
    await call('POST', `/api/runs/${request.run}/approvals`, {
      id_ref: request.id_ref,
      decision: 'approve',
    })
    await request.stream.all()
    return true
  }
  const grants = async () => (await call('GET', '/api/grants')).json.data.items
  const rule = (more: object = {}) => ({
    scope: 'project',
    scope_id: project,
    tool: 'file_write',
    match: { path: { glob: 'notes/*.md' }, content: { any: true } },
    ...more,
  })
  afterEach(async () => {
    for (const { id } of await grants()) await call('DELETE', `/api/grants/${id}`)
  })
  const audit = async (action: string, id: string) =>
    (await call('GET', `/api/admin/audit?action=${action}&limit=100`)).json.data.items.filter(
      (entry: { details: { id: string } }) => entry.details.id === id,
    )

  test('a call that a grant covers runs without a question, names the grant, and is counted; another one is asked about', async () => {
    const created = await call('POST', '/api/grants', rule())
    expect(created).toMatchObject({
      status: 200,
      json: {
        data: {
          ...rule(),
          scope_name: expect.stringContaining('Granted'),
          even_tainted: false,
          run_id: null,
          expires_at: null,
          max_uses: null,
          uses: 0,
          last_used_at: null,
          created_from: null,
          stale: false,
        },
      },
    })
    const { id } = created.json.data
    const place = await conversation()
    const { stream } = await say(place, 'write notes/a.md one, write notes/b.md two')
    const events = await stream.all()
    expect(events.some(({ event }) => event === 'approval_required')).toBe(false)
    const shown = events.filter(({ data }) => data?.type === 'tool_call' && data.grant_id === id)
    expect(shown.map(({ data }) => JSON.parse(data.arguments).path).sort()).toEqual([
      'notes/a.md',
      'notes/b.md',
    ])
    const { json } = await call('GET', `/api/conversations/${place}/messages`)
    const steps = json.data.items
      .at(-1)
      .process_steps.filter(({ type }: { type: string }) => type === 'tool_call')
    expect(steps.map((step: { grant_id: string }) => step.grant_id)).toEqual([id, id])
    expect((await call('GET', `/api/projects/${project}/files/notes/b.md`)).status).toBe(200)
    expect((await call('GET', `/api/grants/${id}`)).json.data).toMatchObject({
      uses: 2,
      last_used_at: expect.any(String),
    })
    expect(await audit('grant_created', id)).toHaveLength(1)
    expect(await audit('grant_used', id)).toHaveLength(1)
    expect((await call('GET', '/api/approvals?state=decided')).json.data.items).toEqual([])

    expect(await isAsked(place, 'write other/a.md one')).toBe(true)
    expect(await isAsked(place, 'write notes/../a.md one')).toBe(true)
    expect(await isAsked(place, 'write notes/deep/a.md one')).toBe(true)

    expect((await call('DELETE', `/api/grants/${id}`)).status).toBe(200)
    expect(await audit('grant_removed', id)).toHaveLength(1)
    expect(await isAsked(place, 'write notes/c.md one')).toBe(true)
    for (const method of ['GET', 'DELETE'])
      expect((await call(method, `/api/grants/${id}`)).status).toBe(404)
  })

  test('a replay of the events of a run shows each call once, with its grant', async () => {
    const { json } = await call('POST', '/api/grants', rule())
    const { stream, run } = await say(await conversation(), 'write notes/a.md one')
    await stream.all()
    const replay = await openEvents(`${server.url}/api/runs/${run}/events`, {})
    const shown = (await replay.all()).filter(({ data }) => data?.type === 'tool_call')
    expect(shown.map(({ data }) => data.grant_id)).toEqual([json.data.id])
  })

  test('an approval stores its grant together with the decision, or neither', async () => {
    const place = await conversation()
    const refused = await decide(place, 'write notes/a.md one', {
      decision: 'approve',
      remember: 'grant',
      grant: {
        scope: 'project',
        match: { path: { any: true }, content: { any: true } },
        even_tainted: true,
      },
    })
    expect(refused).toMatchObject({ status: 400, json: { error: 'grant_too_wide' } })
    expect(await grants()).toEqual([])
    const waiting = (await call('GET', `/api/approvals/${refused.request.approval_id}`)).json.data
    expect(waiting.state).toBe('pending')

    const { request } = refused
    const stored = await call('POST', `/api/runs/${request.run}/approvals`, {
      id_ref: request.id_ref,
      decision: 'approve',
      remember: 'grant',
      grant: {
        scope: 'conversation',
        match: { path: { equals: 'notes/b.md' }, content: { any: true } },
      },
    })
    expect(stored.status).toBe(200)
    await request.stream.all()
    expect(await grants()).toMatchObject([
      {
        scope: 'conversation',
        scope_id: place,
        tool: 'file_write',
        created_from: request.approval_id,
      },
    ])
    expect(await isAsked(place, 'write notes/b.md two')).toBe(false)
    expect(await isAsked(await conversation(), 'write notes/b.md two')).toBe(true)
  })

  test('what `remember` stores is listed as a grant for every call of the tool, is used, and can be removed', async () => {
    const place = await conversation()
    await decide(place, 'write a.md one', { decision: 'approve', remember: 'conversation' })
    const [grant] = await grants()
    expect(grant).toMatchObject({
      scope: 'conversation',
      scope_id: place,
      tool: 'file_write',
      match: null,
      even_tainted: false,
      run_id: null,
    })
    expect(await isAsked(place, 'write b.md two')).toBe(false)
    expect((await grants())[0].uses).toBe(1)
    await call('DELETE', `/api/grants/${grant.id}`)
    expect(await isAsked(place, 'write c.md three')).toBe(true)

    const { request } = await decide(place, 'write d.md one', {
      decision: 'approve',
      remember: 'run',
    })
    expect(request.run).toBeDefined()
    // Its run has ended.
    expect(await grants()).toEqual([])
  })

  test('a preview replays the decisions of its scope, and a grant that would have allowed a rejected call is not stored silently', async () => {
    const place = await conversation()
    for (const [line, decision] of [
      ['write notes/a.md x', 'approve'],
      ['write notes/b.md x', 'approve'],
      ['write notes/bad.md x', 'reject'],
      ['write other.md x', 'approve'],
    ] as const)
      await decide(place, line, { decision })
    await decide(await conversation(), 'write notes/elsewhere.md x', { decision: 'reject' })
    const here = { scope: 'conversation', scope_id: place }
    const preview = await call('POST', '/api/grants/preview', rule(here))
    expect(preview.json.data.would_allow).toEqual({ approved: 2, rejected: 1 })
    expect(preview.json.data.samples[0]).toMatchObject({
      name: 'file_write',
      arguments: { path: 'notes/bad.md', content: 'x' },
      state: 'rejected',
    })
    expect(preview.json.data.samples).toHaveLength(3)
    expect(await grants()).toEqual([])

    const refused = await call('POST', '/api/grants', rule(here))
    expect(refused).toMatchObject({
      status: 409,
      json: { error: 'grant_allows_rejected', details: { samples: preview.json.data.samples } },
    })
    expect(await grants()).toEqual([])
    const anyway = await call('POST', '/api/grants', rule({ ...here, anyway: true }))
    expect(anyway.status).toBe(200)
    await call('DELETE', `/api/grants/${anyway.json.data.id}`)

    // The narrowest match for a waiting call: it differs from two earlier ones in the path alone.
    const waiting = await asked(place, 'write notes/c.md x')
    const suggestion = await call('POST', '/api/grants/preview', {
      ...here,
      tool: 'file_write',
      approval_id: waiting?.approval_id,
    })
    const { suggested, would_allow } = suggestion.json.data
    expect(suggested.content).toEqual({ equals: 'x' })
    expect([...suggested.path.one_of].sort()).toEqual([
      'notes/a.md',
      'notes/b.md',
      'notes/c.md',
      'other.md',
    ])
    expect(would_allow).toEqual({ approved: 3, rejected: 0 })
    await call('POST', `/api/runs/${waiting?.run}/stop`)
  })

  test('in a conversation with text from outside, only a grant for such conversations covers a call, and never one of high risk', async () => {
    const place = await conversation()
    await call('PATCH', `/api/conversations/${place}`, { approval: 'ask' })
    const { stream } = await say(place, `${site.origin}/page\nfetch`)
    await stream.all()
    await call('POST', '/api/grants', rule())
    expect(await isAsked(place, 'write notes/a.md one')).toBe(true)
    const strong = await call('POST', '/api/grants', rule({ even_tainted: true }))
    expect(strong.status).toBe(200)
    expect(await isAsked(place, 'write notes/a.md two')).toBe(false)
    const deletion = { tool: 'file_delete', match: { path: { any: true } } }
    await call('POST', '/api/grants', rule(deletion))
    expect(await isAsked(place, 'delete notes/a.md')).toBe(true)
    expect(await isAsked(await conversation(), 'write notes/z.md one')).toBe(false)
    expect(await isAsked(await conversation(), 'delete notes/z.md')).toBe(false)
  })

  test('a grant ends after its uses and at its time', async () => {
    const place = await conversation()
    const { json } = await call('POST', '/api/grants', rule({ max_uses: 2 }))
    expect(await isAsked(place, 'write notes/a.md 1, write notes/b.md 1')).toBe(false)
    expect(await isAsked(place, 'write notes/c.md 1')).toBe(true)
    expect((await call('GET', `/api/grants/${json.data.id}`)).json.data.uses).toBe(2)
    await call('DELETE', `/api/grants/${json.data.id}`)

    const ends = new Date(Date.now() + 60_000).toISOString()
    const timed = await call('POST', '/api/grants', rule({ expires_at: ends }))
    expect(timed.json.data.expires_at).toBe(ends)
    expect(await isAsked(place, 'write notes/d.md 1')).toBe(false)
  })

  test.each<[string, () => object, number, string]>([
    ['an unknown schedule', () => ({ scope: 'schedule' }), 404, 'not_found'],
    ['a foreign place', () => ({ scope_id: 'foreign' }), 404, 'not_found'],
    ['an unknown tool', () => ({ tool: 'nothing' }), 400, 'validation_failed'],
    [
      'an end in the past',
      () => ({ expires_at: '2020-01-01T00:00:00.000Z' }),
      400,
      'validation_failed',
    ],
    ['no uses', () => ({ max_uses: 0 }), 400, 'validation_failed'],
    ['too many uses', () => ({ max_uses: 1_000_001 }), 400, 'validation_failed'],
    [
      'two patterns in one',
      () => ({ match: { path: { equals: 'a', any: true } } }),
      400,
      'validation_failed',
    ],
    [
      'a pattern of another kind',
      () => ({ match: { path: { regex: 'a' } } }),
      400,
      'validation_failed',
    ],
    [
      'a match that is too long',
      () => ({ match: { content: { equals: 'x'.repeat(100_001) } } }),
      400,
      'validation_failed',
    ],
    ['a foreign request', () => ({ approval_id: 'foreign' }), 404, 'not_found'],
  ])('with %s, nothing is stored', async (_what, more, status, error) => {
    const refused = await call('POST', '/api/grants', rule(more()))
    expect(refused).toMatchObject({ status, json: { error } })
    expect(await grants()).toEqual([])
  })

  test('only an approval can store a grant, and only together with its rule', async () => {
    const place = await conversation()
    const request = await asked(place, 'write notes/a.md one')
    const grant = { scope: 'conversation', match: {} }
    for (const body of [
      { decision: 'reject', remember: 'grant', grant },
      { decision: 'approve', remember: 'grant' },
      { decision: 'approve', grant },
    ]) {
      const { status } = await call('POST', `/api/runs/${request?.run}/approvals`, {
        id_ref: request?.id_ref,
        ...body,
      })
      expect(status).toBe(400)
    }
    expect(await grants()).toEqual([])
    await call('POST', `/api/runs/${request?.run}/stop`)
  })

  test('the same request with the same Idempotency-Key creates one grant', async () => {
    const create = () =>
      server.call('POST', '/api/grants', {
        body: rule(),
        headers: { 'idempotency-key': `grant-${project}` },
      })
    const [one, other] = [await create(), await create()]
    expect(other.json.data).toEqual(one.json.data)
    expect(await grants()).toHaveLength(1)
  })
})
