// Two users or two tabs act at the same moment: all invariants hold in any order.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { interleave, playConversation } from '../support/faults/interleave.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { openEvents } from '../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../support/server/server.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
beforeEach(() => upstream.reset())
afterAll(() => upstream.close())

const long = process.env.FAULTS === 'full'

describeOnEachServer('two actors at once', (start) => {
  let server: TestServer
  let project: string
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      limits: { runs_per_user: 8 },
    })
    project = (await server.call('POST', '/api/projects', { body: { name: 'Two' } })).json.data.id
  })

  const conversation = async (): Promise<string> =>
    (await server.call('POST', '/api/conversations', { body: { project_id: project } })).json.data
      .id
  async function ask(id: string, calls: object[]) {
    upstream.enqueue(turn.toolCalls(calls as Parameters<typeof turn.toolCalls>[0]))
    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta', on_disconnect: 'continue' },
    })
    const question = await stream.next(({ event }) => event === 'approval_required')
    return { stream, runId: question.data.run_id as string, idRef: question.data.id_ref as string }
  }
  const write = (id: string) => ({
    id,
    name: 'file_write',
    arguments: { path: `${id}.txt`, content: 'x' },
  })

  test('an acknowledged stop is final, also when an approval arrives at the same moment', async () => {
    const random = randomFrom(SEED)
    for (let round = 0; round < (long ? 100 : 5); round += 1) {
      const id = await conversation()
      const { stream, runId, idRef } = await ask(id, [write(`stop_${round}`)])
      upstream.enqueue(turn.text('Written.'))
      const wait = () => new Promise((resolve) => setTimeout(resolve, random.below(6)))
      const [stopped] = await Promise.all([
        wait().then(() => server.call('POST', `/api/runs/${runId}/stop`)),
        wait().then(() =>
          server.call('POST', `/api/runs/${runId}/approvals`, {
            body: { id_ref: idRef, decision: 'approve' },
          }),
        ),
      ])
      const acknowledged = stopped.json.data.status
      const asked = upstream.requests.length
      expect(['stopped', 'completed'], `SEED=${SEED}`).toContain(acknowledged)
      await stream.all()
      const run = (await server.call('GET', `/api/runs/${runId}`)).json.data
      const page = (await server.call('GET', `/api/conversations/${id}/messages`)).json.data
      expect([run.status, page.items.at(-1).status], `SEED=${SEED}`).toEqual([
        acknowledged,
        acknowledged,
      ])
      expect(run.ended_at).not.toBeNull()
      expect(upstream.requests.length, 'the model is not asked again').toBe(asked)
      upstream.reset()
    }
  })

  test('many simultaneous sends start no more runs than a user may have', async () => {
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.program(() => turn.text('Here.', { until: gate }))
    const before = upstream.requests.length
    const ids = await Promise.all(Array.from({ length: long ? 60 : 16 }, conversation))
    const streams = await Promise.all(
      ids.map((id) =>
        openEvents(`${server.url}/api/conversations/${id}/messages`, { body: { text: 'Go' } }),
      ),
    )
    const begun = streams.filter(({ status }) => status === 200)
    expect(begun).toHaveLength(8)
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200, 429]))
    release()
    for (const stream of begun) expect((await stream.all()).at(-1)?.event).toBe('done')
    expect(upstream.requests.length - before).toBe(8)
  })

  test('a message sent while the shown answer is deleted is attached to an existing message or refused', async () => {
    upstream.program(() => turn.text('Short.'))
    for (let round = 0; round < (long ? 50 : 4); round += 1) {
      const id = await conversation()
      const path = `/api/conversations/${id}/messages`
      const send = async () =>
        await (await openEvents(server.url + path, { body: { text: 'Go' } })).all()
      await send()
      await send()
      const before = (await server.call('GET', path)).json.data.items
      await Promise.all([server.call('DELETE', `${path}/${before[3].id}`), send()])
      const after = (await server.call('GET', path)).json.data.items as {
        id: string
        parent_id: string | null
      }[]
      expect(after[0]?.id, 'the history is still there').toBe(before[0].id)
      for (const [at, item] of after.entries())
        expect(item.parent_id).toBe(after[at - 1]?.id ?? null)
    }
  })

  test('two tools allowed for the conversation at the same moment are both remembered', async () => {
    const id = await conversation()
    for (const name of ['rm', 'rm_again'])
      await server.call('PUT', `/api/projects/${project}/files/${name}.txt`, {
        body: { content: 'x' },
      })
    const remove = (name: string) => ({
      id: name,
      name: 'file_delete',
      arguments: { path: `${name}.txt` },
    })
    const { stream, runId } = await ask(id, [write('remembered'), remove('rm')])
    // Either one may come first.
    for (const call of ['remembered', 'rm'])
      await stream.next(({ event, data }) => event === 'approval_required' && data.id_ref === call)
    upstream.enqueue(turn.text('Both.'))
    const decisions = await Promise.all(
      ['remembered', 'rm'].map((id_ref) =>
        server.call('POST', `/api/runs/${runId}/approvals`, {
          body: { id_ref, decision: 'approve', remember: 'conversation' },
        }),
      ),
    )
    expect(decisions.map(({ status }) => status)).toEqual([200, 200])
    await stream.all()
    upstream.enqueue(turn.toolCalls([write('again'), remove('rm_again')]), turn.text('Again.'))
    const next = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Again', stream_mode: 'delta' },
    })
    const events = await next.all()
    expect(events.filter(({ event }) => event === 'approval_required')).toEqual([])
    expect(events.at(-1)?.event).toBe('done')
  })

  test('a conversation that is deleted while an answer is being written stays deleted', async () => {
    upstream.program(() => turn.text('word '.repeat(400), { delayMs: 2 }))
    const id = await conversation()
    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Go', on_disconnect: 'continue' },
    })
    const run = await stream.next(({ event }) => event === 'run')
    const request = await upstream.nextRequest()
    const [removed] = await Promise.all([
      server.call('DELETE', `/api/conversations/${id}`),
      openEvents(`${server.url}/api/conversations/${id}/messages`, { body: { text: 'Again' } }),
    ])
    expect(removed.status).toBe(200)
    await stream.all()
    expect(await request.closed).toBe('client_left')
    expect((await server.call('GET', `/api/conversations/${id}`)).status).toBe(404)
    expect((await server.call('GET', `/api/runs/${run.data.run_id}`)).status).toBe(404)
  })

  test('a client that disconnects before its stream begins counts as a listener that has left', async () => {
    upstream.program(() => turn.text('word '.repeat(400), { delayMs: 5 }))
    const id = await conversation()
    for (let round = 0; round < (long ? 6 : 3); round += 1) {
      const leaving = new AbortController()
      const sent = fetch(`${server.url}/api/conversations/${id}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'Go', on_disconnect: 'stop' }),
        signal: leaving.signal,
      }).catch(() => null)
      setTimeout(() => leaving.abort(), long ? round : 2 * round)
      await sent
      await expect
        .poll(
          async () =>
            (await server.call('GET', `/api/conversations/${id}`)).json.data.active_run_id,
          { timeout: 60_000, interval: 50 },
        )
        .toBeNull()
    }
  })

  test('any order of sending, editing, deciding, stopping, resuming, showing and deleting keeps every invariant', async () => {
    playConversation(upstream)
    for (let round = 0; round < (long ? 150 : 2); round += 1)
      await interleave(server, project, SEED + round).catch((error: unknown) => {
        throw new Error(`SEED=${SEED + round} repeats it`, { cause: error })
      })
  })
})
