// Two instances when their clocks differ, Redis dies, or the replies to their commits are lost; with FAULTS=full only.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { type CommitProxy, startCommitProxy } from '../support/faults/write-killer.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { textsOf, useInstanceProcesses } from '../support/server/instance-processes.ts'
import {
  hasRedisProgram,
  type RedisProcess,
  startRedisProcess,
} from '../support/store/redis-process.ts'
import { actionsOn, isEnd, withoutRedis } from './instance-actions.ts'

const isFull = process.env.FAULTS === 'full' && hasRedisProgram
/** The n-th commit from the message on loses its reply, for each n up to this. */
const COMMITS = 20
const LIMIT_MS = 900_000

describe.skipIf(!isFull)(
  'two instances whose clocks are five minutes apart, with a separate Redis',
  () => {
    let redis: RedisProcess
    let commits: CommitProxy
    afterAll(async () => {
      commits.close()
      await redis.kill()
    })
    const clock = pathToFileURL(join(import.meta.dirname, '../support/clock-ahead.mjs')).href
    const instances = useInstanceProcesses(2, {
      wrapper: (index) => (index === 0 ? [] : ['env', `NODE_OPTIONS=--import=${clock}`]),
      redis: async () => {
        redis = await startRedisProcess()
        return redis
      },
      database: async (target) => {
        commits = await startCommitProxy(target)
        return commits
      },
    })
    const { call, conversation, send, followToEnd, ownerOf, processes } = instances
    const { begin, ask, assertWhole } = actionsOn(instances)

    test.each([
      ['killed, and another one starts empty', () => redis.kill(), () => redis.start()],
      ['stopped, and goes on', () => redis.signal('SIGSTOP'), () => redis.signal('SIGCONT')],
    ])(
      'while the process of Redis is %s after half a minute, runs go on and new ones start, and then a stop works at once',
      async (_fault, takeAway, bringBack) => {
        await withoutRedis(instances, takeAway, bringBack)
        for (const through of [0, 1]) {
          instances.upstream.enqueue(turn.text('On and on. '.repeat(3_000), { delayMs: 20 }))
          const { runId } = await begin(1 - through)
          const { status } = await call(through, 'POST', `/api/runs/${runId}/stop`)
          expect(status).toBe('stopped')
        }
      },
      LIMIT_MS,
    )

    test(
      'a commit whose reply is lost duplicates nothing on either instance',
      async () => {
        let lost = 0
        for (let n = 1; n <= COMMITS; n += 1) {
          instances.upstream.reset()
          instances.upstream.enqueue(
            turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }]),
            turn.text('It is 42.'),
          )
          const through = n % 2
          const id = await conversation(through)
          commits.killAt(n, 'after', (cut) => cut())
          const stream = await send(through, id)
          const runId = (await stream.next(({ event }) => event === 'run')).data.run_id
          const events = await followToEnd(runId, 1 - through)
          if (commits.isSprung) lost += 1
          commits.disarm()
          expect(
            events.filter(isEnd).map(({ event }) => event),
            `commit ${n}`,
          ).toEqual(['done'])
          expect(textsOf(events).at(-1)).toBe('It is 42.')
          await assertWhole({ id, runId })
          const run = await instances.store.runs.find(runId)
          const steps = run === undefined ? [] : await instances.store.steps.list(run.messageId)
          expect(steps.filter(({ type }) => type === 'tool_result')).toHaveLength(1)
          instances.upstream.expectDone()
        }
        expect(lost).toBeGreaterThan(3)
      },
      LIMIT_MS,
    )

    test(
      'each keeps its runs for longer than a lease, messages stay in order, and either takes over from the other',
      async () => {
        const created = await call(1, 'POST', '/api/conversations', {})
        expect(Date.parse(created.created_at) - Date.now()).toBeGreaterThan(4 * 60_000)
        const text = 'Said by its first owner. '.repeat(300)
        instances.upstream.enqueue(
          turn.text(text, { delayMs: 20 }),
          turn.text(text, { delayMs: 20 }),
        )
        const both = await Promise.all([begin(0), begin(1)])
        for (const [through, { runId }] of both.entries())
          expect(await ownerOf(runId)).toBe(through)
        for (const one of both) {
          expect(textsOf(await followToEnd(one.runId, 0))).toEqual([text])
          await assertWhole(one)
          expect((await instances.store.runs.find(one.runId))?.attempt).toBe(1)
        }

        const id = await conversation()
        const said = ['one', 'two', 'three', 'four']
        for (const [at, words] of said.entries()) {
          instances.upstream.enqueue(turn.text(`Answer to ${words}.`))
          await ask(1 - (at % 2), id, words)
        }
        for (const through of [0, 1]) {
          const { items } = await call(through, 'GET', `/api/conversations/${id}/messages`)
          expect(items.map((message: { text: string }) => message.text)).toEqual(
            said.flatMap((words) => [words, `Answer to ${words}.`]),
          )
        }

        for (const victim of [0, 1]) {
          instances.upstream.enqueue(
            turn.text('Cut off by a kill. '.repeat(400), { delayMs: 20 }),
            turn.text('Said by its successor.'),
          )
          const one = await begin(victim)
          await processes[victim]?.kill('SIGKILL')
          expect(textsOf(await followToEnd(one.runId, 1 - victim)).at(-1)).toBe(
            'Said by its successor.',
          )
          await instances.restart(victim)
          await assertWhole(one)
        }
      },
      LIMIT_MS,
    )
  },
)
