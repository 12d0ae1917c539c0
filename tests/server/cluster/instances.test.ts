// Several instances on one store: whatever one of them performs is followed, stopped and decided through the others.
import { sql } from 'drizzle-orm'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { type TestCluster, useClusters } from '../../support/server/cluster.ts'
import { type EventReader, openEvents } from '../../support/server/events.ts'
import type { TestServer } from '../../support/server/server.ts'
import { hasRedis, REDIS_URL } from '../../support/store/redis.ts'

/** With fewer at work, an instance performs what it receives. */
const PERFORMED_HERE = 32

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
beforeEach(() => upstream.reset())
afterAll(() => upstream.close())

describe.skipIf(!hasRedis)('instances on one store', () => {
  const { start } = useClusters()
  let cluster: TestCluster
  let first: TestServer
  let second: TestServer
  let project: string

  beforeAll(async () => {
    cluster = await start(2, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      limits: { runs_per_user: 100 },
    })
    const [one, two] = cluster.instances
    if (one === undefined || two === undefined) throw new Error('two were started')
    first = one
    second = two
    const created = await first.call('POST', '/api/projects', { body: { name: 'Shared' } })
    project = created.json.data.id
  })

  async function conversation(): Promise<string> {
    const body = { project_id: project }
    return (await first.call('POST', '/api/conversations', { body })).json.data.id
  }
  const send = async (
    server: TestServer,
    id: string,
  ): Promise<{ stream: EventReader; runId: string }> => {
    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta', on_disconnect: 'continue' },
    })
    const { data } = await stream.next(({ event }) => event === 'run')
    return { stream, runId: data.run_id }
  }
  const follow = (server: TestServer, runId: string, after = 0): Promise<EventReader> =>
    openEvents(`${server.url}/api/runs/${runId}/events?stream_mode=delta`, {
      headers: { 'last-event-id': String(after) },
    })
  const textOf = (events: EventReader['events']): string =>
    events.flatMap(({ event, data }) => (event === 'step_delta' ? data.delta : [])).join('')
  const status = async (server: TestServer, runId: string): Promise<string> =>
    (await server.call('GET', `/api/runs/${runId}`)).json.data.status

  /** Until an instance whose lease a test has ended renews it, what it begins would be taken from it. */
  const allRenewed = () => expect.poll(() => cluster.store.leases.others('nobody')).toHaveLength(2)

  test('every listener of a run receives the same events, through whichever instance', async () => {
    const id = await conversation()
    upstream.enqueue(turn.text('The same words for everybody. '.repeat(20), { delayMs: 5 }))
    const { stream, runId } = await send(first, id)
    const others = await Promise.all([follow(first, runId), follow(second, runId)])
    const [sent, ...followed] = await Promise.all([stream.all(), ...others.map((o) => o.all())])
    expect(sent.at(-1)?.event).toBe('done')
    expect(textOf(sent)).toBe('The same words for everybody. '.repeat(20))
    for (const events of followed) {
      expect(events.map(({ id, event }) => [id, event])).toEqual(
        sent.map(({ id, event }) => [id, event]),
      )
      expect(textOf(events)).toBe(textOf(sent))
    }
    const replayed = await (await follow(second, runId)).all()
    expect(replayed).toEqual(sent)
  })

  test('a stop through any instance ends the run and closes the connection to the provider', async () => {
    for (const through of [first, second]) {
      const id = await conversation()
      upstream.enqueue(turn.text('On and on. '.repeat(2_000), { delayMs: 20 }))
      const { stream, runId } = await send(first, id)
      await stream.next(({ event }) => event === 'step_delta')
      const { json } = await through.call('POST', `/api/runs/${runId}/stop`)
      expect(json.data.status).toBe('stopped')
      expect((await stream.all()).at(-1)?.data).toMatchObject({ finish_reason: 'stopped' })
    }
  })

  test('deleting a conversation through the other instance ends its run and removes it everywhere', async () => {
    for (const permanent of [false, true]) {
      const id = await conversation()
      upstream.enqueue(turn.text('On and on. '.repeat(2_000), { delayMs: 20 }))
      const { stream, runId } = await send(first, id)
      await stream.next(({ event }) => event === 'step_delta')
      const request = upstream.requests.at(-1)
      const path = `/api/conversations/${id}?permanent=${permanent}`
      expect((await second.call('DELETE', path)).status).toBe(200)
      await stream.all()
      expect(await request?.closed).toBe('client_left')
      for (const server of [first, second]) {
        expect((await server.call('GET', `/api/conversations/${id}`)).status).toBe(404)
        expect((await server.call('GET', `/api/runs/${runId}`)).status).toBe(404)
      }
    }
  })

  test('an approval can be requested and given through any instance, and the tool runs once', async () => {
    for (const through of [first, second]) {
      const id = await conversation()
      const calls = [
        { id: `w_${id.slice(-8)}`, name: 'file_write', arguments: { path: 'a.txt', content: 'x' } },
      ]
      upstream.enqueue(turn.toolCalls(calls), turn.text('Written.'))
      const { stream, runId } = await send(first, id)
      const other = await follow(second, runId)
      const approvalRequest = await stream.next(({ event }) => event === 'approval_required')
      expect((await other.next(({ event }) => event === 'approval_required')).id).toBe(
        approvalRequest.id,
      )
      expect(await status(second, runId)).toBe('awaiting_approval')
      const decided = await through.call('POST', `/api/runs/${runId}/approvals`, {
        body: { id_ref: approvalRequest.data.id_ref, decision: 'approve' },
      })
      expect(decided.status).toBe(200)
      const events = await stream.all()
      expect(events.at(-1)?.event).toBe('done')
      expect((await other.all()).at(-1)?.id).toBe(events.at(-1)?.id)
      const results = events.filter(({ data }) => data.type === 'tool_result')
      expect(results.map(({ data }) => JSON.parse(data.content).success)).toEqual([true])
    }
  })

  test('exactly one other instance continues the runs of an instance whose lease has expired, and that instance can no longer write', async () => {
    const id = await conversation()
    upstream.enqueue(
      turn.text('The first attempt says something long. '.repeat(400), { delayMs: 20 }),
      turn.text('The second attempt answers.'),
    )
    const { stream, runId } = await send(first, id)
    await stream.next(({ event }) => event === 'step_delta')
    const { leases, runs } = cluster.database.tables
    await expect
      .poll(async () => {
        const rows = await cluster.database.read.select().from(runs)
        return rows.find((row) => row.id === runId)?.owner ?? null
      })
      .not.toBeNull()
    const owner = (await cluster.database.read.select().from(runs)).find(
      (row) => row.id === runId,
    )?.owner
    // As after a pause of that instance: nobody has renewed its lease in time.
    await expect
      .poll(async () => {
        await cluster.database.write(async (tx) => {
          await tx
            .update(leases)
            .set({ expiresAt: new Date(0) })
            .where(sql`${leases.owner} = ${owner}`)
        })
        const rows = await cluster.database.read.select().from(runs)
        return rows.find((row) => row.id === runId)?.attempt
      })
      .toBe(2)
    await expect.poll(() => status(second, runId)).toBe('completed')
    const { items } = (await first.call('GET', `/api/conversations/${id}/messages`)).json.data
    expect(items).toHaveLength(2)
    expect(items.at(-1).text).toBe('The second attempt answers.')
    // The instance that was too late may end a stream early, as at a restart: the client connects again.
    for (const server of [first, second])
      await expect
        .poll(async () =>
          (await (await follow(server, runId)).all()).flatMap(({ event }) =>
            event === 'done' || event === 'error' ? event : [],
          ),
        )
        .toEqual(['done'])
    await allRenewed()
  })

  test('an instance that lost a waiting run leaves it to its successor', async () => {
    const id = await conversation()
    const calls = [{ id: 'w_lost', name: 'file_write', arguments: { path: 'b.txt', content: 'x' } }]
    upstream.enqueue(turn.toolCalls(calls), turn.text('Written once.'))
    const { stream, runId } = await send(first, id)
    await stream.next(({ event }) => event === 'approval_required')
    const { leases, runs } = cluster.database.tables
    const row = async () =>
      (await cluster.database.read.select().from(runs)).find((run) => run.id === runId)
    const owner = (await row())?.owner
    await expect
      .poll(async () => {
        await cluster.database.write(async (tx) => {
          await tx
            .update(leases)
            .set({ expiresAt: new Date(0) })
            .where(sql`${leases.owner} = ${owner}`)
        })
        return (await row())?.attempt
      })
      .toBe(2)
    await first.call('POST', `/api/runs/${runId}/approvals`, {
      body: { id_ref: 'w_lost', decision: 'approve' },
    })
    await expect.poll(() => status(second, runId)).toBe('completed')
    const events = await (await follow(second, runId)).all()
    const results = events.filter(({ data }) => data.type === 'tool_result')
    expect(results.map(({ data }) => JSON.parse(data.content).success)).toEqual([true])
    await allRenewed()
  })

  test('runs beyond 32 active ones go through the queue, are performed once, and are shared with other instances', async () => {
    let release = (): void => undefined
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    const ids = await Promise.all(Array.from({ length: PERFORMED_HERE + 8 }, conversation))
    for (const _id of ids) upstream.enqueue(turn.text('Answered at last.', { until }))
    const sent = await Promise.all(ids.map((id) => send(first, id)))
    const begun = new Set<string>(sent.map(({ runId }) => runId))
    const rows = async () =>
      (await cluster.database.read.select().from(cluster.database.tables.runs)).filter((row) =>
        begun.has(row.id),
      )
    // All are at work at the same moment: none waits for an earlier one to end.
    await expect
      .poll(async () => new Set((await rows()).map((row) => row.status)))
      .toEqual(new Set(['running']))
    release()
    for (const { stream } of sent) expect(textOf(await stream.all())).toBe('Answered at last.')

    const redis = new Redis(REDIS_URL)
    const events = await redis.xrange(`${cluster.namespace}:queue:runs:events`, '-', '+')
    redis.disconnect()
    const queued = events.flatMap(([, [, event, , id = '']]) =>
      event === 'active' && begun.has(id) ? id : [],
    )
    expect(queued).toHaveLength(ids.length - PERFORMED_HERE)
    expect(new Set(queued).size).toBe(queued.length)
    const performed = await rows()
    expect(performed.map((row) => row.attempt)).toEqual(ids.map(() => 1))
    const owners = new Set(performed.map((row) => row.owner))
    expect(owners.size, 'the other instance has performed some').toBe(2)
    const metrics = await (await fetch(`${first.url}/metrics`)).text()
    expect(metrics).toContain('nanoclaw_queued_runs 0\n')
  })

  test('the open pages of a user receive changes made on another instance', async () => {
    const pages = await openEvents(`${second.url}/api/events`)
    await pages.next(({ event }) => event === 'ready')
    const { json } = await first.call('POST', '/api/conversations', { body: {} })
    const received = await pages.next(
      ({ event, data }) => event === 'conversation' && data.id === json.data.id,
    )
    expect(received.data.change).toBe('created')
    pages.leave()
  })

  test('a tool result of one instance is reused on the other until the project changes through either', async () => {
    const path = `/api/projects/${project}/files/read.txt`
    const write = (server: TestServer, content: string) =>
      server.call('PUT', path, { body: { content } })
    const readThrough = async (server: TestServer): Promise<unknown> => {
      upstream.enqueue(
        turn.toolCalls([{ name: 'file_read', arguments: { path: 'read.txt' } }]),
        turn.text('Read.'),
      )
      const { stream } = await send(server, await conversation())
      const result = (await stream.all()).find(({ data }) => data.type === 'tool_result')
      const { data, cached } = JSON.parse(result?.data.content)
      return { content: data.content, cached }
    }
    await write(second, 'old')
    expect(await readThrough(first)).toEqual({ content: 'old', cached: undefined })
    expect(await readThrough(second)).toEqual({ content: 'old', cached: true })
    for (const [changing, reading] of [
      [first, second],
      [second, first],
    ] as const) {
      const content = `written through ${changing.url}`
      await write(changing, content)
      expect(await readThrough(reading)).toEqual({ content, cached: undefined })
    }
  })
})
