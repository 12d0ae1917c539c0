// Grants and plans where two instances serve the same person: what is changed at one holds for the runs of the other.
import { beforeEach, describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useClusters } from '../../support/server/cluster.ts'
import { openEvents } from '../../support/server/events.ts'
import type { TestServer } from '../../support/server/server.ts'
import { hasRedis } from '../../support/store/redis.ts'

const upstream = await useUpstream()
const clusters = useClusters()

describe.skipIf(!hasRedis)('two instances', () => {
  let one: TestServer
  let other: TestServer
  beforeEach(async () => {
    const { instances } = await clusters.start(2, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      limits: { runs_per_user: 20 },
    })
    const [first, second] = instances
    if (first === undefined || second === undefined) throw new Error('two were started')
    one = first
    other = second
    await Promise.all([one.server.toolsReady, other.server.toolsReady])
  })

  test('let through exactly as many calls as a grant allows, and none once it is removed at the other', async () => {
    let calls = 0
    upstream.program(({ messages }) => {
      if (messages.at(-1)?.role !== 'user') return turn.text('Done.')
      calls += 1
      return turn.toolCalls([
        { name: 'file_write', arguments: { path: `notes/${calls}.md`, content: 'x' } },
      ])
    })
    const { json: project } = await one.call('POST', '/api/projects', { body: { name: 'Shared' } })
    const grantBody = (uses: object) => ({
      scope: 'project',
      scope_id: project.data.id,
      tool: 'file_write',
      match: { path: { glob: 'notes/*' }, content: { any: true } },
      ...uses,
    })
    /** Whether a run that is sent to this instance waits for a person. */
    const isAsked = async (server: TestServer): Promise<boolean> => {
      const { json } = await server.call('POST', '/api/conversations', {
        body: { project_id: project.data.id },
      })
      const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
        body: { text: 'Go' },
      })
      const { event } = await stream.next(({ event: name }) =>
        ['approval_required', 'done', 'error'].includes(name),
      )
      stream.leave()
      expect(event).not.toBe('error')
      return event === 'approval_required'
    }
    const made = await one.call('POST', '/api/grants', { body: grantBody({ max_uses: 3 }) })
    expect(made.status).toBe(200)
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_none, index) => isAsked(index % 2 === 0 ? one : other)),
    )
    expect(asked.filter((waits) => !waits)).toHaveLength(3)
    const uses = (await other.call('GET', `/api/grants/${made.json.data.id}`)).json.data.uses
    expect(uses).toBe(3)

    const open = await one.call('POST', '/api/grants', { body: grantBody({}) })
    expect(await isAsked(other)).toBe(false)
    await one.call('DELETE', `/api/grants/${open.json.data.id}`)
    expect(await isAsked(other)).toBe(true)
  })

  test('show and follow a plan that a person changes at the one that does not perform the run', async () => {
    const items = (state: string) => [{ id: '1', text: 'Step 1', state }]
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(
      turn.toolCalls([{ name: 'plan', arguments: { items: items('doing') } }]),
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '1 + 1' } }], {
        until: released,
      }),
      turn.text('Done.'),
    )
    const { json } = await one.call('POST', '/api/conversations', { body: {} })
    const path = `/api/conversations/${json.data.id}/messages`
    const stream = await openEvents(one.url + path, { body: { text: 'Go' } })
    const { data: run } = await stream.next(({ event }) => event === 'run')
    await stream.next(({ event }) => event === 'plan')
    const page = await openEvents(`${other.url}/api/runs/${run.run_id}/events`)
    await upstream.nextRequest()
    await upstream.nextRequest()
    const changed = { items: [{ id: '9', text: 'Only this', state: 'open' }] }
    const put = await other.call('PUT', `/api/runs/${run.run_id}/plan`, { body: changed })
    expect(put.status).toBe(200)
    release()
    const { messages } = await upstream.nextRequest()
    expect(JSON.stringify(messages)).toContain('Only this')
    for (const reader of [stream, page]) {
      const plans = (await reader.all()).filter(({ event }) => event === 'plan')
      expect(plans.at(-1)?.data).toMatchObject({ ...changed, edited_by: { name: 'default' } })
    }
  })
})
