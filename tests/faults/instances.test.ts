// Two instances as processes on one PostgreSQL and one Redis: one is killed or frozen, Redis becomes unreachable, and nothing is lost.
import { afterAll, describe, expect, test } from 'vitest'
import { turn } from '../support/provider/upstream-turns.ts'
import { textsOf, useInstanceProcesses } from '../support/server/instance-processes.ts'
import { hasRedis } from '../support/store/redis.ts'
import { startCollector } from '../support/trace-collector.ts'

/** Rounds of the long form, in which the owner is frozen or killed again and again. */
const rounds = process.env.FAULTS === 'full' ? 10 : 0

const collector = await startCollector()
afterAll(() => collector.close())

describe.skipIf(!hasRedis)('two instances', () => {
  const instances = useInstanceProcesses(2, { config: { tracing: { endpoint: collector.url } } })
  const { processes, call, conversation, send, followToEnd, ownerOf } = instances

  test('after the owner of a long answer is killed, the answer continues in the same stream, and the other instance takes the approval and traces both attempts', async () => {
    const id = await conversation()
    const calls = [{ id: 'w_1', name: 'file_write', arguments: { path: 'a.txt', content: 'once' } }]
    instances.upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }]),
      turn.text('Half of a long answer. '.repeat(300), { delayMs: 20 }),
      turn.toolCalls(calls),
      turn.text('The file is written.'),
    )
    const stream = await send(0, id)
    const runId = (await stream.next(({ event }) => event === 'run')).data.run_id
    await stream.next(({ event }) => event === 'step_delta')
    const owner = await ownerOf(runId)
    const other = 1 - owner
    const followed = followToEnd(runId, other)
    await processes[owner]?.kill('SIGKILL')

    await expect
      .poll(
        async () => (await call(other, 'GET', `/api/runs/${runId}`)).pending_approvals[0]?.id_ref,
      )
      .toBe('w_1')
    await call(other, 'POST', `/api/runs/${runId}/approvals`, {
      id_ref: 'w_1',
      decision: 'approve',
    })
    const events = await followed
    expect(events.at(-1)?.event).toBe('done')
    expect(textsOf(events).at(-1)).toBe('The file is written.')
    expect(events.map(({ id }) => id)).toEqual([...new Set(events.map(({ id }) => id))])
    expect(events.filter(({ data }) => data.type === 'tool_result')).toHaveLength(2)
    const { items } = await call(other, 'GET', `/api/conversations/${id}/messages`)
    expect(items).toHaveLength(2)
    expect(items[1].status).toBe('completed')
    const attempts = () =>
      collector.spans().filter(({ attributes }) => attributes['nanoclaw.run.id'] === runId)
    await expect.poll(() => attempts().length).toBe(2)
    const [lost, successor] = attempts()
    expect([lost, successor].map((span) => span?.attributes['nanoclaw.run.outcome'])).toEqual([
      'lost',
      'stop',
    ])
    expect(successor?.links).toMatchObject([{ traceId: lost?.traceId, spanId: lost?.spanId }])
    const traced = collector.spans().filter(({ parentSpanId }) => parentSpanId === lost?.spanId)
    expect(traced.map(({ name }) => name)).toContain('chat scripted')

    await instances.restart(owner)
  })

  test('while Redis is unreachable, runs continue, new ones start and can be followed anywhere, and afterwards a stop works at once', async () => {
    const id = await conversation()
    const text = 'These words arrive although Redis is away. '.repeat(60)
    instances.upstream.enqueue(turn.text(text, { delayMs: 5 }))
    const stream = await send(0, id)
    const runId = (await stream.next(({ event }) => event === 'run')).data.run_id
    const followed = followToEnd(runId, 1)
    await stream.next(({ event }) => event === 'step_delta')
    await askEverythingWhileFrozen(runId, id)
    instances.redis.cut()
    expect(textsOf(await followed)).toEqual([text])
    expect(textsOf((await stream.all()).filter(({ id }) => !Number.isNaN(id)))).toEqual([text])
    instances.upstream.enqueue(turn.text('A new one.'))
    const next = await conversation()
    const begun = await send(1, next)
    const nextRun = (await begun.next(({ event }) => event === 'run')).data.run_id
    expect(textsOf(await followToEnd(nextRun, 0))).toEqual(['A new one.'])
    instances.redis.restore()

    instances.upstream.enqueue(turn.text('On and on. '.repeat(3_000), { delayMs: 20 }))
    const last = await conversation()
    const endless = await send(0, last)
    const endlessRun = (await endless.next(({ event }) => event === 'run')).data.run_id
    await endless.next(({ event }) => event === 'step_delta')
    for (const through of [0, 1])
      expect((await call(through, 'POST', `/api/runs/${endlessRun}/stop`)).status).toBe('stopped')
  })

  /** The first requests that find Redis not to answer, of every kind, end before it answers again. */
  async function askEverythingWhileFrozen(runId: string, id: string): Promise<void> {
    const other = await conversation()
    instances.upstream.enqueue(turn.text('In the dark.'))
    instances.redis.freeze()
    const form = new FormData()
    form.append('file', new Blob(['seen']), 'note.txt')
    const json = (value: unknown) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(value),
    })
    const asked: [path: string, init?: RequestInit][] = [
      ['/readyz'],
      ['/metrics'],
      ['/api/conversations'],
      [`/api/conversations/${id}/messages`],
      [`/api/runs/${runId}`],
      ['/api/search?q=words'],
      ['/api/projects'],
      ['/api/conversations', json({})],
      [`/api/conversations/${other}/messages`, json({ text: 'Go', stream: false })],
      ['/api/files', { method: 'POST', body: form }],
      ['/api/events'],
      [`/api/runs/${runId}/events`],
    ]
    await Promise.all(
      asked.map(async ([path, init]) => {
        const left = new AbortController()
        const response = await fetch(`${instances.urlOf(1)}${path}`, {
          ...init,
          signal: left.signal,
        })
        expect(response.status, path).toBe(200)
        if (path.endsWith('/events')) left.abort()
        else await response.arrayBuffer()
      }),
    )
  }

  test('an instance that shuts down hands its runs over, and the other finishes them', async () => {
    const id = await conversation()
    instances.upstream.enqueue(
      turn.text('Interrupted by a shutdown. '.repeat(500), { delayMs: 20 }),
      turn.text('Finished by the other one.'),
    )
    const stream = await send(0, id)
    const runId = (await stream.next(({ event }) => event === 'run')).data.run_id
    await stream.next(({ event }) => event === 'step_delta')
    const owner = await ownerOf(runId)
    const followed = followToEnd(runId, 1 - owner)
    await processes[owner]?.kill('SIGTERM')
    expect(textsOf(await followed).at(-1)).toBe('Finished by the other one.')
    await instances.restart(owner)
  })

  test.skipIf(rounds === 0)(
    'a frozen owner that resumes writes nothing more, and a killed one loses nothing, repeatedly',
    async () => {
      for (let round = 0; round < rounds; round += 1) {
        const id = await conversation()
        const file = { path: `${round}.txt`, content: 'once' }
        instances.upstream.enqueue(
          turn.text('What the first owner says. '.repeat(400), { delayMs: 20 }),
          turn.toolCalls([{ id: `f_${round}`, name: 'file_write', arguments: file }]),
          turn.text(`The end of round ${round}.`),
        )
        const stream = await send(round % 2, id)
        const runId = (await stream.next(({ event }) => event === 'run')).data.run_id
        await stream.next(({ event }) => event === 'step_delta')
        const owner = await ownerOf(runId)
        const followed = followToEnd(runId, 1 - owner)
        const frozen = processes[owner]
        if (frozen === undefined) throw new Error('it was started')
        if (round % 2 === 0) process.kill(frozen.pid, 'SIGSTOP')
        else await frozen.kill('SIGKILL')
        await expect
          .poll(
            async () =>
              (await call(1 - owner, 'GET', `/api/runs/${runId}`)).pending_approvals[0]?.id_ref,
          )
          .toBe(`f_${round}`)
        if (round % 2 === 0) process.kill(frozen.pid, 'SIGCONT')
        else await instances.restart(owner)
        const through = round % 4 < 2 ? owner : 1 - owner
        await call(through, 'POST', `/api/runs/${runId}/approvals`, {
          id_ref: `f_${round}`,
          decision: 'approve',
        })
        const events = await followed
        expect(events.at(-1)?.event).toBe('done')
        expect(textsOf(events).at(-1)).toBe(`The end of round ${round}.`)
        const run = await instances.store.runs.find(runId)
        expect(run).toMatchObject({ status: 'completed', attempt: 2 })
        const rows = run === undefined ? [] : await instances.store.steps.list(run.messageId)
        expect(rows.filter(({ type }) => type === 'tool_result')).toHaveLength(1)
        expect(rows.at(-1)?.content).toBe(`The end of round ${round}.`)
        const { items } = await call(1 - owner, 'GET', `/api/conversations/${id}/messages`)
        expect(items).toHaveLength(2)
      }
    },
    600_000,
  )
})
