// The long form of the faults of several instances, with FAULTS=full only: minutes of pauses and lost connections.
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import { textsOf, useInstanceProcesses } from '../support/server/instance-processes.ts'
import { hasRedis } from '../support/store/redis.ts'
import { actionsOn, isEnd, withoutRedis } from './instance-actions.ts'

const isFull = process.env.FAULTS === 'full' && hasRedis
const CLIENTS = 500
const PAUSE_MS = 60_000
const LIMIT_MS = 900_000

describe.skipIf(!isFull)('three instances', () => {
  const instances = useInstanceProcesses(3, {
    // A client that was cut off may be counted for a moment after it has connected again.
    config: { limits: { runs_per_user: 500, streams_per_user: 3 * CLIENTS } },
  })
  const { call, followToEnd, ownerOf, processes } = instances
  const { begin, assertWhole } = actionsOn(instances)

  test(
    'an owner that was frozen for a minute writes nothing more after it resumes',
    async () => {
      instances.upstream.enqueue(
        turn.text('What the first owner says. '.repeat(400), { delayMs: 20 }),
        turn.text('What the second one says.'),
      )
      const one = await begin(0)
      const owner = await ownerOf(one.runId)
      const frozen = processes[owner]
      if (frozen === undefined) throw new Error('it was started')
      const followed = followToEnd(one.runId, (owner + 1) % 3)
      process.kill(frozen.pid, 'SIGSTOP')
      await pause(PAUSE_MS)
      process.kill(frozen.pid, 'SIGCONT')
      expect(textsOf(await followed).at(-1)).toBe('What the second one says.')
      await expect
        .poll(() => call(owner, 'GET', `/api/runs/${one.runId}`))
        .toMatchObject({
          status: 'completed',
        })
      expect((await instances.store.runs.find(one.runId))?.attempt).toBe(2)
      const { items } = await call(owner, 'GET', `/api/conversations/${one.id}/messages`)
      expect(items.at(-1).text).toBe('What the second one says.')
    },
    LIMIT_MS,
  )

  test(
    'while Redis is frozen for half a minute, runs continue, new ones start, and no request hangs',
    () =>
      withoutRedis(
        instances,
        () => instances.redis.freeze(),
        () => instances.redis.restore(),
      ),
    LIMIT_MS,
  )

  test(
    'repeatedly terminated PostgreSQL connections lose no run and no token',
    async () => {
      const text = 'Stored through lost connections. '.repeat(60)
      for (let turns = 0; turns < 40; turns += 1)
        instances.upstream.enqueue(turn.text(text, { delayMs: 20 }))
      const begun = await Promise.all([0, 1, 2, 0, 1, 2].map((through) => begin(through)))
      const followed = begun.map(({ runId }, at) => followToEnd(runId, (at + 1) % 3))
      for (let times = 0; times < 8; times += 1) {
        await instances.terminateConnections()
        await pause(700)
      }
      for (const events of await Promise.all(followed)) {
        expect(events.filter(isEnd).map(({ event }) => event)).toEqual(['done'])
        expect(textsOf(events).at(-1)).toBe(text)
      }
      for (const one of begun) await assertWhole(one)
    },
    LIMIT_MS,
  )

  test(
    `${CLIENTS} disconnected clients reconnect to another instance and receive every word once`,
    async () => {
      const text = 'Heard by everybody. '.repeat(600)
      instances.upstream.enqueue(turn.text(text, { delayMs: 20 }))
      const { runId } = await begin(0)
      const path = `/api/runs/${runId}/events?stream_mode=delta`
      const cut = await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          const stream = await openEvents(`${instances.urlOf(0)}${path}`)
          await stream.next(({ event }) => event === 'step_delta')
          return stream
        }),
      )
      for (const stream of cut) stream.leave()
      const whole = await Promise.all(
        cut.map(async ({ events }) => {
          const before = events.filter(({ id }) => !Number.isNaN(id))
          const rest = await openEvents(`${instances.urlOf(1)}${path}`, {
            headers: { 'last-event-id': String(before.at(-1)?.id ?? 0) },
          })
          return [...before, ...(await rest.all()).filter(({ id }) => !Number.isNaN(id))]
        }),
      )
      for (const events of whole) expect(textsOf(events)).toEqual([text])
    },
    LIMIT_MS,
  )
})
