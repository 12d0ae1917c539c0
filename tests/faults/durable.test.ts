// Acknowledged data is on disk, regenerating keeps the earlier answers, and usage is counted exactly once.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canTrace } from '../support/faults/write-killer.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { callServer } from '../support/server/call-server.ts'
import { type EventReader, openEvents } from '../support/server/events.ts'
import { databaseKeys } from '../support/server/server.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'

const isFull = process.env.FAULTS === 'full'
const RUNS = isFull ? 200 : 10
const dialects = isFull ? DIALECTS : (['sqlite'] as const)
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

describe.each(dialects)('across a kill of the server (%s)', (dialect) => {
  const databases = useDatabases()
  let upstream: Upstream
  let folder: string
  let place: ServerPlace
  let server: ServerProcess

  beforeAll(async () => {
    upstream = await startUpstream()
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-durable-'))
    place = await serverPlace(folder, {
      ...databaseKeys(await databases.settings(dialect)),
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      log_level: 'warn',
      limits: { runs_per_user: RUNS + 1 },
    })
    server = await place.start()
  })
  afterAll(async () => {
    await place.close()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = async (method: string, path: string, body?: unknown) =>
    (await callServer(server.url, method, path, body)).data
  const begin = (path: string, body: object): Promise<EventReader> =>
    openEvents(server.url + path, { body: { stream_mode: 'delta', ...body } })
  async function converse(questions: readonly string[]): Promise<string> {
    const { id } = await call('POST', '/api/conversations', {})
    for (const text of questions) {
      upstream.enqueue(turn.text(`Answer to ${text}`, { usage }))
      const stream = await begin(`/api/conversations/${id}/messages`, { text })
      await stream.all()
    }
    return id
  }

  test.runIf(dialect === 'sqlite' && canTrace)(
    'a message is synced to the disk before the first event is sent',
    async () => {
      const id = await converse([])
      upstream.enqueue(turn.text('Yes.', { usage }))
      const file = join(folder, 'trace')
      const traced = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg'
      const tracer = spawn('strace', [
        ...['-f', '-y', '-s', '600', '-o', file, '-e', traced],
        ...['-p', String(server.pid)],
      ])
      for await (const line of createInterface({ input: tracer.stderr }))
        if (line.includes('attached')) break
      const stream = await begin(`/api/conversations/${id}/messages`, { text: 'Is it safe?' })
      await stream.all()
      tracer.kill('SIGTERM')
      await new Promise((resolve) => tracer.once('exit', resolve))

      const lines = readFileSync(file, 'utf8').split('\n')
      const firstEvent = lines.findIndex((line) => line.includes('event: run'))
      expect(firstEvent).toBeGreaterThan(0)
      // strace prints one line per call, or two if a call of another thread comes in between.
      const synced = lines
        .slice(0, firstEvent)
        .filter((line) => /f(data)?sync(\(\d+<[^>]*-wal>\)| resumed>.*) += 0/.test(line))
      expect(synced.length).toBeGreaterThan(0)
    },
  )

  test('regenerating an answer keeps the old answer and everything after it, however the new one ends', async () => {
    const id = await converse(['first', 'second'])
    const path = `/api/conversations/${id}/messages`
    const { items: before } = await call('GET', path)
    const [, firstAnswer, , lastAnswer] = before
    const again = `/api/conversations/${id}/regenerate/${firstAnswer.id}`
    const never = new Promise(() => {})
    const endings: Record<string, () => Promise<void>> = {
      async refused() {
        upstream.enqueue(turn.error(401))
        await (await begin(again, {})).all()
      },
      async stopped() {
        upstream.enqueue(turn.text('Never', { until: never }))
        const stream = await begin(again, {})
        const { data } = await stream.next(({ event }) => event === 'run')
        await call('POST', `/api/runs/${data.run_id}/stop`)
        await stream.all()
      },
      async killed() {
        upstream.reset()
        upstream.enqueue(turn.text('Never', { until: never }), turn.text('Later.', { usage }))
        const stream = await begin(again, {})
        const { data } = await stream.next(({ event }) => event === 'run')
        await upstream.nextRequest()
        await server.kill('SIGKILL')
        server = await place.start()
        const later = await openEvents(`${server.url}/api/runs/${data.run_id}/events`)
        expect((await later.all()).at(-1)?.event).toBe('done')
      },
    }
    for (const [ending, make] of Object.entries(endings)) {
      await make()
      await call('PATCH', `/api/conversations/${id}`, { leaf_id: lastAnswer.id })
      const { items } = await call('GET', path)
      const idsAndTexts = (all: { id: string; text: string }[]) =>
        all.map(({ id, text }) => [id, text])
      expect(idsAndTexts(items), ending).toEqual(idsAndTexts(before))
    }
    const { items } = await call('GET', path)
    expect(items[1].siblings).toHaveLength(1 + Object.keys(endings).length)
  })

  test(`the usage of ${RUNS} concurrent runs is counted once, although the server is killed in the middle of them`, async () => {
    const before = (await call('GET', '/api/stats/tokens?period=daily')).total_tokens
    upstream.reset()
    upstream.program(({ number }) =>
      // They end at different times, so that the kill finds some of them in each state.
      turn.text(`Answer ${number}`, { usage, delayMs: number % 7, chunkSize: 2 }),
    )
    const runs = await Promise.all(
      Array.from({ length: RUNS }, async () => {
        const { id } = await call('POST', '/api/conversations', {})
        const stream = await begin(`/api/conversations/${id}/messages`, { text: 'Go' })
        const { data } = await stream.next(({ event }) => event === 'run')
        return { runId: data.run_id, stream }
      }),
    )
    await Promise.race(runs.map(({ stream }) => stream.next(({ event }) => event === 'done')))
    await server.kill('SIGKILL')
    server = await place.start()
    const ended = await Promise.all(
      runs.map(async ({ runId }) => {
        const stream = await openEvents(`${server.url}/api/runs/${runId}/events`)
        return (await stream.all()).at(-1)
      }),
    )
    expect(ended.filter((event) => event?.event !== 'done')).toEqual([])
    const after = (await call('GET', '/api/stats/tokens?period=daily')).total_tokens
    expect(after - before).toBe(RUNS * usage.total_tokens)
  })
})
