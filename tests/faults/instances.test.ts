// Two instances as processes on one PostgreSQL and one Redis: one is killed or frozen, Redis goes away, and nothing is lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createStore, type Store } from '../../server/db/store.ts'
import type { RunId } from '../../server/protocol/ids.ts'
import { useDatabases } from '../support/databases.ts'
import { type EventReader, openEvents, type ReceivedEvent } from '../support/events.ts'
import { type Link, startLink } from '../support/link.ts'
import { hasRedis, REDIS_URL, removeKeysOf } from '../support/redis.ts'
import { databaseKeys } from '../support/server.ts'
import { type ServerPlace, type ServerProcess, serverPlace } from '../support/server-process.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

/** Rounds of the long form, in which the owner is frozen or killed again and again. */
const rounds = process.env.FAULTS === 'full' ? 10 : 0

describe.skipIf(!hasRedis)('two instances', () => {
  const databases = useDatabases()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-instances-'))
  const places: ServerPlace[] = []
  let processes: ServerProcess[] = []
  let upstream: Upstream
  let redis: Link
  let store: Store
  let project: string

  beforeAll(async () => {
    upstream = await startUpstream()
    const target = new URL(REDIS_URL)
    redis = await startLink({ host: target.hostname, port: Number(target.port || 6379) })
    const settings = await databases.migrated('postgres')
    store = createStore(await databases.connect(settings))
    for (const name of ['a', 'b']) {
      const place = mkdtempSync(join(folder, name))
      places.push(
        await serverPlace(place, {
          ...databaseKeys(settings),
          redis_url: `redis://127.0.0.1:${redis.port}`,
          data_dir: join(folder, 'data'),
          workspace_root: join(folder, 'workspaces'),
          models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
          titles: 'off',
          shutdown_grace: 1,
        }),
      )
    }
    processes = await Promise.all(places.map((place) => place.start()))
    project = (await call(0, 'POST', '/api/projects', { name: 'Shared' })).id
  })
  beforeEach(() => upstream.reset())
  afterAll(async () => {
    for (const place of places) await place.close()
    const identity = await store.settings.get('cluster', z.object({ id: z.string() }))
    redis.close()
    if (identity !== undefined) await removeKeysOf(identity.id)
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const urlOf = (index: number): string => {
    const { url } = processes[index] ?? {}
    if (url === undefined) throw new Error(`instance ${index} was not started`)
    return url
  }
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape, which the assertions check
  async function call(index: number, method: string, path: string, body?: unknown): Promise<any> {
    const response = await fetch(`${urlOf(index)}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const { data } = z.object({ data: z.unknown() }).parse(await response.json())
    return data
  }
  const conversation = async (): Promise<string> =>
    (await call(0, 'POST', '/api/conversations', { project_id: project })).id
  const send = (index: number, id: string): Promise<EventReader> =>
    openEvents(`${urlOf(index)}/api/conversations/${id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta', on_disconnect: 'continue' },
    })

  /** Follows a run to its end as the page does: reconnects, through any instance, with the last event id. */
  async function followToEnd(runId: string, preferred: number): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = []
    for (let index = preferred; ; index = 1 - index) {
      try {
        const stream = await openEvents(
          `${urlOf(index)}/api/runs/${runId}/events?stream_mode=delta`,
          { headers: { 'last-event-id': String(events.at(-1)?.id ?? 0) } },
        )
        if (stream.status === 200)
          events.push(...(await stream.all()).filter(({ id }) => !Number.isNaN(id)))
      } catch {
        // That instance is gone; the next one has the stream.
      }
      if (events.at(-1)?.event === 'done' || events.at(-1)?.event === 'error') return events
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  /** The text of the steps as a client has it after these events. */
  function textsOf(events: readonly ReceivedEvent[]): string[] {
    const steps = new Map<number, string>()
    for (const { event, data } of events) {
      if (event === 'step_delta') steps.set(data.index, (steps.get(data.index) ?? '') + data.delta)
      else if (event === 'process_step' && data.type === 'text') steps.set(data.index, data.content)
    }
    return [...steps.entries()].sort(([a], [b]) => a - b).map(([, text]) => text)
  }

  /** Which of the two performs the run; each says at its start who it is. */
  async function ownerOf(runId: RunId): Promise<number> {
    let owner = -1
    await expect
      .poll(async () => {
        const instance = (await store.runs.find(runId))?.owner ?? 'nobody'
        owner = processes.findIndex((one) => one.logged().includes(instance))
        return owner
      })
      .not.toBe(-1)
    return owner
  }

  test('the owner of a long answer is killed: the answer goes on in the same stream, and the approval is given through the other', async () => {
    const id = await conversation()
    const calls = [{ id: 'w_1', name: 'file_write', arguments: { path: 'a.txt', content: 'once' } }]
    upstream.enqueue(
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
    expect(events.filter(({ data }) => data.type === 'tool_result')).toHaveLength(1)
    const { items } = await call(other, 'GET', `/api/conversations/${id}/messages`)
    expect(items).toHaveLength(2)
    expect(items[1].status).toBe('completed')

    const place = places[owner]
    if (place !== undefined) processes[owner] = await place.start()
  })

  test('while Redis is cut off, runs go on, new ones start and are followed anywhere, and afterwards a stop works at once', async () => {
    const id = await conversation()
    const text = 'These words arrive although Redis is away. '.repeat(60)
    upstream.enqueue(turn.text(text, { delayMs: 5 }), turn.text('A new one.'))
    const stream = await send(0, id)
    const runId = (await stream.next(({ event }) => event === 'run')).data.run_id
    const followed = followToEnd(runId, 1)
    await stream.next(({ event }) => event === 'step_delta')
    redis.cut()
    expect(textsOf(await followed)).toEqual([text])
    expect(textsOf((await stream.all()).filter(({ id }) => !Number.isNaN(id)))).toEqual([text])
    const next = await conversation()
    const begun = await send(1, next)
    const nextRun = (await begun.next(({ event }) => event === 'run')).data.run_id
    expect(textsOf(await followToEnd(nextRun, 0))).toEqual(['A new one.'])
    redis.restore()

    upstream.enqueue(turn.text('On and on. '.repeat(3_000), { delayMs: 20 }))
    const last = await conversation()
    const endless = await send(0, last)
    const endlessRun = (await endless.next(({ event }) => event === 'run')).data.run_id
    await endless.next(({ event }) => event === 'step_delta')
    for (const through of [0, 1])
      expect((await call(through, 'POST', `/api/runs/${endlessRun}/stop`)).status).toBe('stopped')
  })

  test('a shutdown hands its runs over: the other instance finishes them', async () => {
    const id = await conversation()
    upstream.enqueue(
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
    const place = places[owner]
    if (place !== undefined) processes[owner] = await place.start()
  })

  test.skipIf(rounds === 0)(
    'an owner that is frozen and comes back writes nothing more, and one that is killed loses nothing, again and again',
    async () => {
      for (let round = 0; round < rounds; round += 1) {
        const id = await conversation()
        const file = { path: `${round}.txt`, content: 'once' }
        upstream.enqueue(
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
        else processes[owner] = (await places[owner]?.start()) ?? frozen
        const through = round % 4 < 2 ? owner : 1 - owner
        await call(through, 'POST', `/api/runs/${runId}/approvals`, {
          id_ref: `f_${round}`,
          decision: 'approve',
        })
        const events = await followed
        expect(events.at(-1)?.event).toBe('done')
        expect(textsOf(events).at(-1)).toBe(`The end of round ${round}.`)
        const run = await store.runs.find(runId)
        expect(run).toMatchObject({ status: 'completed', attempt: 2 })
        const rows = run === undefined ? [] : await store.steps.list(run.messageId)
        expect(rows.filter(({ type }) => type === 'tool_result')).toHaveLength(1)
        expect(rows.at(-1)?.content).toBe(`The end of round ${round}.`)
        const { items } = await call(1 - owner, 'GET', `/api/conversations/${id}/messages`)
        expect(items).toHaveLength(2)
      }
    },
    600_000,
  )
})
