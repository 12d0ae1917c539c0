// Grants of a schedule: they hold in the runs that it starts, and in nothing that a person sends.
import { beforeEach, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { scripted } from '../../support/provider/scripted.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

beforeEach(() => {
  let calls = 0
  upstream.program(({ messages }) => {
    if (messages.at(-1)?.role === 'tool') return turn.text('Written.')
    calls += 1
    const call = { path: 'notes/today.md', content: `Entry ${calls}` }
    return turn.toolCalls([{ id: `call_${calls}`, name: 'file_write', arguments: call }])
  })
})

describeOnEachServer('a grant of a schedule', (start) => {
  test('lets through what the schedule does, is shown with its name, and ends with it', async () => {
    const server: TestServer = await start(scripted(upstream))
    const call = async (method: string, path: string, body?: object) =>
      (await server.call(method, path, body === undefined ? {} : { body })).json
    const project = (await call('POST', '/api/projects', { name: 'Diary' })).data.id
    const make = async (name: string): Promise<string> => {
      const when = { every: '30d' }
      const body = { name, text: 'Write.', project_id: project, when, approval: 'ask' }
      return (await call('POST', '/api/schedules', body)).data.id
    }
    const schedule = await make('Morning')
    const runNow = async (id: string): Promise<void> =>
      expect(await call('POST', `/api/schedules/${id}/run`)).toMatchObject({ code: 0 })
    const waiting = async () => (await call('GET', '/api/approvals')).data.items
    const waits = async () =>
      await eventually(async () => {
        const items = await waiting()
        expect(items).toHaveLength(1)
        return items[0]
      })
    const decide = (request: { run_id: string; id_ref: string }, body: object) =>
      call('POST', `/api/runs/${request.run_id}/approvals`, { id_ref: request.id_ref, ...body })
    const isDone = (id: string, count: number) =>
      eventually(async () => {
        const { items } = (await call('GET', `/api/schedules/${id}/occurrences`)).data
        expect(items).toHaveLength(count)
        expect(items.map(({ state }: { state: string }) => state)).toEqual(
          Array(count).fill('done'),
        )
        return items
      })

    await runNow(schedule)
    const request = await waits()
    expect(request.origin).toMatchObject({ type: 'schedule', id: schedule })
    const match = { path: { glob: 'notes/*' }, content: { any: true } }
    const grant = { scope: 'schedule', match }
    await decide(request, { decision: 'approve', remember: 'grant', grant })
    await isDone(schedule, 1)
    const [stored] = (await call('GET', '/api/grants')).data.items
    expect(stored).toMatchObject({
      scope: 'schedule',
      scope_id: schedule,
      scope_name: 'Morning',
      match,
      uses: 0,
      created_from: request.id,
    })

    // The next occurrence waits for nobody.
    await runNow(schedule)
    const [{ conversation_id: conversation }] = await isDone(schedule, 2)
    expect((await call('GET', `/api/grants/${stored.id}`)).data.uses).toBe(1)

    // What a person sends in its conversation, and another schedule, are not its runs.
    const sent = call('POST', `/api/conversations/${conversation}/messages`, {
      text: 'Write.',
      approval: 'ask',
      stream: false,
    })
    await decide(await waits(), { decision: 'reject' })
    expect(await sent).toMatchObject({ code: 0 })
    const other = await make('Evening')
    await runNow(other)
    await decide(await waits(), { decision: 'approve' })
    await isDone(other, 1)
    expect((await call('GET', `/api/grants/${stored.id}`)).data.uses).toBe(1)

    // The replay counts the decisions about its own runs only.
    const rule = { scope: 'schedule', scope_id: schedule, tool: 'file_write', match }
    expect((await call('POST', '/api/grants/preview', rule)).data.would_allow).toEqual({
      approved: 1,
      rejected: 0,
    })

    // It keeps what it was given while it does the same, and no longer.
    const change = (body: object) => call('PATCH', `/api/schedules/${schedule}`, body)
    const kept = async () => (await call('GET', '/api/grants')).data.items.length
    expect(await change({ name: 'Early', when: { every: '20d' } })).toMatchObject({ code: 0 })
    expect(await kept()).toBe(1)
    for (const body of [{ text: 'Write more.' }, { when: { hook: true } }, { project_id: null }]) {
      if ((await kept()) === 0)
        expect(await call('POST', '/api/grants', rule)).toMatchObject({ code: 0 })
      expect(await change(body)).toMatchObject({ code: 0 })
      expect(await kept()).toBe(0)
    }

    await call('DELETE', `/api/schedules/${schedule}`)
    expect((await call('GET', '/api/grants')).data.items).toEqual([])
    expect(await call('POST', '/api/grants', rule)).toMatchObject({ code: 404 })
  })
})
