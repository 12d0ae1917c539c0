// What waits for a person as a list: of all conversations, bound to what was shown, with who decided and how.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { openEvents } from '../../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../../support/server/server.ts'

const upstream = await useUpstream()
const waits = ({ event }: { event: string }): boolean => event === 'approval_required'

describeOnEachServer('the list of what waits for a decision', (start) => {
  let server: TestServer
  let project: string
  beforeAll(async () => {
    server = await start({ models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' })
    const { json } = await server.call('POST', '/api/projects', { body: { name: 'Listed' } })
    project = json.data.id
  })
  beforeEach(() => {
    upstream.program(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return turn.text('Done.')
      const path = /[a-z]+\.txt$/.exec(String(last.content))?.[0] ?? ''
      return turn.toolCalls([
        { id: `call_${path}`, name: 'file_write', arguments: { content: 'text\n', path } },
      ])
    })
  })

  async function ask(path: string, body: object = {}, conversation: object = {}) {
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project, title: `About ${path}`, ...conversation },
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: path, stream_mode: 'delta', ...body },
    })
    const { data } = await stream.next(waits)
    return { conversation: json.data.id, run: data.run_id, shown: data, stream }
  }
  const list = async (query = '') =>
    (await server.call('GET', `/api/approvals${query}`)).json.data.items
  const get = async (id: string) => (await server.call('GET', `/api/approvals/${id}`)).json.data

  test('a waiting call is listed with its place, its hash and no decision, and is gone from the list once it is decided', async () => {
    const { conversation, run, shown, stream } = await ask('listed.txt')
    const [item] = await list(`?project_id=${project}`)
    expect(item).toMatchObject({
      id: shown.approval_id,
      type: 'approval',
      run_id: run,
      id_ref: 'call_listed.txt',
      conversation_id: conversation,
      conversation_title: 'About listed.txt',
      project_id: project,
      origin: { type: 'page' },
      name: 'file_write',
      arguments: { path: 'listed.txt', content: 'text\n' },
      risk_level: 'medium',
      preview: { diff: expect.stringContaining('+text') },
      tainted: false,
      state: 'pending',
      deadline: null,
      decided_at: null,
      decided_by: null,
      decided_through: null,
    })
    const { arguments: given, id_ref, name, run_id } = item
    const hash = createHash('sha256')
      .update(canonicalize({ arguments: given, id_ref, name, run_id }) ?? '')
      .digest('hex')
    expect([item.call_hash, shown.call_hash]).toEqual([hash, hash])
    expect(await list('?project_id=another')).toEqual([])

    const wrong = await server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref, decision: 'approve', call_hash: '0'.repeat(64) },
    })
    expect(wrong).toMatchObject({ status: 409, json: { error: 'approval_changed' } })
    expect((await get(item.id)).state).toBe('pending')

    await server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref, decision: 'reject', reason: 'not now', call_hash: hash },
    })
    await stream.all()
    expect((await list()).map(({ id }: { id: string }) => id)).not.toContain(item.id)
    expect(await list('?state=decided&limit=1')).toMatchObject([
      {
        id: item.id,
        state: 'rejected',
        reason: 'not now',
        call_hash: hash,
        decided_at: expect.any(String),
        decided_through: 'page',
      },
    ])
  })

  test('arguments that a person changed stand beside those that the model wrote', async () => {
    const { run, shown, stream } = await ask('changed.txt')
    await server.call('POST', `/api/runs/${run}/approvals`, {
      body: {
        id_ref: shown.id_ref,
        decision: 'approve',
        arguments: { path: 'other.txt', content: 'x' },
      },
    })
    await stream.all()
    expect(await get(shown.approval_id)).toMatchObject({
      state: 'approved',
      arguments: { path: 'changed.txt', content: 'text\n' },
      decided_arguments: { path: 'other.txt', content: 'x' },
      call_hash: shown.call_hash,
    })
  })

  test('without a decision before the deadline the call is skipped, the model learns it, and the run goes on', async () => {
    const { shown, stream, run } = await ask('late.txt', { approval_deadline: 5 })
    expect(Date.parse(shown.deadline)).toBeGreaterThan(Date.now())
    const events = await stream.all()
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
    const result = events.find(({ data }) => data.type === 'tool_result')
    expect(result?.data).toMatchObject({ skipped: true })
    expect(result?.data.content).toContain('Nobody decided by')
    expect(await get(shown.approval_id)).toMatchObject({
      state: 'expired',
      decided_by: null,
      decided_through: 'deadline',
    })
    const late = await server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref: shown.id_ref, decision: 'approve' },
    })
    expect(late.status).toBe(409)
  })

  test('a run that is stopped leaves no request behind that waits, and deleted conversations leave none at all', async () => {
    const stopped = await ask('stopped.txt')
    await server.call('POST', `/api/runs/${stopped.run}/stop`)
    expect(await get(stopped.shown.approval_id)).toMatchObject({
      state: 'void',
      decided_through: null,
    })
    const trashed = await ask('trashed.txt')
    await server.call('DELETE', `/api/conversations/${trashed.conversation}`)
    const gone = await server.call('GET', `/api/approvals/${trashed.shown.approval_id}`)
    expect(gone.status).toBe(404)
    await server.call('POST', `/api/conversations/${trashed.conversation}/restore`)
    expect((await get(trashed.shown.approval_id)).state).toBe('void')
  })

  test('pages of the list hold each request once, newest first', async () => {
    const asked = [await ask('one.txt'), await ask('two.txt'), await ask('three.txt')]
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`
      const { json } = await server.call('GET', `/api/approvals?limit=1${query}`)
      seen.push(...json.data.items.map(({ id }: { id: string }) => id))
      cursor = json.data.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(asked.map(({ shown }) => shown.approval_id).reverse())
    for (const { run } of asked) await server.call('POST', `/api/runs/${run}/stop`)
  })

  test('a conversation keeps its deadline for later sends, and a send without one has none', async () => {
    const { shown, run } = await ask('kept.txt', {}, { approval_deadline: 3600 })
    expect(Date.parse(shown.deadline) - Date.now()).toBeGreaterThan(3_500_000)
    await server.call('POST', `/api/runs/${run}/stop`)
    const none = await ask('none.txt', { approval_deadline: null }, { approval_deadline: 3600 })
    expect(none.shown.deadline).toBe(null)
    await server.call('POST', `/api/runs/${none.run}/stop`)
    for (const approval_deadline of [4, 2_592_001, 1.5, 'soon']) {
      const { status } = await server.call('POST', '/api/conversations', {
        body: { approval_deadline },
      })
      expect(status).toBe(400)
    }
  })
})
