// Schedules when their process is killed or paused: every due time is one occurrence with one run, whichever instance looks.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { callServer } from '../support/server/call-server.ts'
import { useInstanceProcesses } from '../support/server/instance-processes.ts'
import { databaseKeys } from '../support/server/server.ts'
import { type ServerPlace, serverPlace } from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'
import { hasRedis } from '../support/store/redis.ts'

const upstream = await useUpstream()
const isFull = process.env.FAULTS === 'full'
const KILLS = isFull ? 40 : 2
/** Due times for each kill. */
const DUE_EACH = 6
/** The first one is due when all schedules have been made, or at once. */
const FIRST_MS = 1_500
const APART_MS = 150
const LIMIT_MS = 3_600_000
const CLOCK_AHEAD = join(import.meta.dirname, '../support/clock-ahead.mjs')

// biome-ignore lint/suspicious/noExplicitAny: the assertions check the shape
type Call = (method: string, path: string, body?: unknown) => Promise<any>

/** Makes schedules that are due once each, shortly one after the other. @returns their ids. */
async function makeDue(call: Call, count: number, round: string): Promise<string[]> {
  const first = Date.now() + FIRST_MS
  const ids: string[] = []
  for (let at = 0; at < count; at += 1) {
    const { id } = await call('POST', '/api/schedules', {
      name: `${round} ${at}`,
      text: `Task ${round} ${at}`,
      when: { at: new Date(first + at * APART_MS).toISOString() },
    })
    ids.push(id)
  }
  return ids
}

/** A request that succeeds; returns its data. */
async function callTo(url: string, method: string, path: string, body?: unknown) {
  const { status, data } = await callServer(url, method, path, body)
  expect([status, path]).toEqual([200, path])
  return data
}

interface Listed {
  due_at: string
  state: string
  run_id: string | null
  conversation_id: string | null
  count?: number
}

/** All occurrences of a schedule, newest first. */
async function allOccurrences(call: Call, id: string): Promise<Listed[]> {
  const found: Listed[] = []
  for (let cursor = ''; ; ) {
    const page = await call('GET', `/api/schedules/${id}/occurrences?limit=100${cursor}`)
    found.push(...page.items)
    if (!page.has_more) return found
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}

/** Each schedule has one occurrence, which is done, and whose conversation has its text and one answer, once. */
async function assertOnce(call: Call, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const [occurrence] = await eventually(async () => {
      const { items } = await call('GET', `/api/schedules/${id}/occurrences`)
      expect(items.map(({ state }: { state: string }) => state)).toEqual(['done'])
      return items
    })
    const { text } = await call('GET', `/api/schedules/${id}`)
    const path = `/api/conversations/${occurrence.conversation_id}/messages`
    const { items } = await call('GET', path)
    expect(items.map(({ role, text }: Record<string, string>) => [role, text])).toEqual([
      ['user', text],
      ['assistant', 'It is done.'],
    ])
  }
  const { items } = await call('GET', '/api/conversations?limit=100')
  const scheduled = items.flatMap(({ schedule_id: id }: { schedule_id?: string }) =>
    id !== undefined && ids.includes(id) ? [id] : [],
  )
  expect(scheduled.toSorted(), 'no schedule made a second conversation').toEqual(ids.toSorted())
}

describe.each(DIALECTS)('schedules of a server on %s that is killed', (dialect) => {
  const databases = useDatabases()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-schedules-'))
  let place: ServerPlace | undefined
  afterAll(async () => {
    await place?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    `${KILLS} kills and pauses while due times come make none of them run twice, and lose none (SEED=${SEED})`,
    async () => {
      upstream.program(() => turn.text('It is done.', { delayMs: 20 }))
      const random = randomFrom(SEED)
      place = await serverPlace(folder, {
        ...databaseKeys(await databases.migrated(dialect)),
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        schedules: { max_per_user: KILLS * DUE_EACH },
      })
      let server = await place.start()
      const call: Call = (method, path, body) => callTo(server.url, method, path, body)
      for (let kill = 0; kill < KILLS; kill += 1) {
        const begun = upstream.requests.length
        const ids = await makeDue(call, DUE_EACH, `${kill}`)
        // Some are done then, one is at work, and the others are due while nobody looks.
        const wanted = begun + 1 + random.below(DUE_EACH - 1)
        await eventually(() => expect(upstream.requests.length).toBeGreaterThanOrEqual(wanted))
        if (kill % 2 === 1) {
          // Stopped while times come, as a machine that sleeps, and gone on with.
          process.kill(server.pid, 'SIGSTOP')
          const last = Date.now() + FIRST_MS + DUE_EACH * APART_MS
          await eventually(() => expect(Date.now()).toBeGreaterThan(last))
          process.kill(server.pid, 'SIGCONT')
        } else {
          await server.kill('SIGKILL')
          server = await place.start()
        }
        await assertOnce(call, ids)
      }
    },
    LIMIT_MS,
  )
})

/** Schedules of every minute, on a server whose clock jumps with each start. */
const EVERY_MINUTE = isFull ? 10 : 2
const JUMPS = isFull ? 40 : 4
const MINUTE_MS = 60_000

describe.each(DIALECTS)('schedules of a server on %s whose clock jumps', (dialect) => {
  const databases = useDatabases()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-clock-'))
  let place: ServerPlace | undefined
  afterAll(async () => {
    await place?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    `each minute is one occurrence through ${JUMPS} kills and jumps forward and back: it ran once, or is listed as missed (SEED=${SEED})`,
    async () => {
      upstream.program(() => turn.text('It is done.', { delayMs: 20 }))
      const random = randomFrom(SEED)
      const clock = ['--import', pathToFileURL(CLOCK_AHEAD).href]
      place = await serverPlace(
        folder,
        {
          ...databaseKeys(await databases.migrated(dialect)),
          models: [{ id: 'scripted', api_url: upstream.url }],
          titles: 'off',
          schedules: { min_interval: 60, max_failures: 1_000 },
        },
        [...clock, join(inject('serverBuild'), 'main.js')],
      )
      let ahead = 0
      const start = () => place?.start({ wrapper: ['env', `AHEAD_MS=${ahead}`] })
      let server = await start()
      const call: Call = (method, path, body) => callTo(server?.url ?? '', method, path, body)
      const ids: string[] = []
      for (let at = 0; at < EVERY_MINUTE; at += 1) {
        const { id } = await call('POST', '/api/schedules', {
          name: `Minute ${at}`,
          text: `Task ${at}`,
          when: { cron: '* * * * *', tz: 'UTC' },
        })
        ids.push(id)
      }
      let furthest = 0
      for (let jump = 0; jump < JUMPS; jump += 1) {
        await server?.kill('SIGKILL')
        // Every fourth one goes back, behind times that have already been due.
        ahead += jump % 4 === 3 ? -random.below(10) * MINUTE_MS : (2 + random.below(48)) * MINUTE_MS
        furthest = Math.max(furthest, ahead)
        const begun = upstream.requests.length
        server = await start()
        if (ahead < furthest) continue
        // The newest time of each schedule runs; the server dies after some of them.
        const wanted = begun + 1 + random.below(EVERY_MINUTE)
        await eventually(() => expect(upstream.requests.length).toBeGreaterThanOrEqual(wanted))
      }
      await server?.kill('SIGKILL')
      ahead = furthest + 3 * MINUTE_MS
      server = await start()
      let total = 0
      for (const id of ids) {
        const items = await eventually(async () => {
          const found = await allOccurrences(call, id)
          expect(found.filter(({ state }) => state === 'running' || state === 'waiting')).toEqual(
            [],
          )
          expect(Date.parse(found[0]?.due_at ?? '')).toBeGreaterThan(Date.now() + furthest)
          return found
        })
        const oldestFirst = items.toReversed()
        let next = Date.parse(oldestFirst[0]?.due_at ?? '')
        for (const { due_at: due, count = 1 } of oldestFirst) {
          expect(new Date(next).toISOString(), 'no minute is missing or comes twice').toBe(due)
          next += count * MINUTE_MS
          total += count
        }
        const ran = items.filter(({ run_id: run }) => run !== null)
        expect(new Set(ran.map(({ run_id: run }) => run)).size).toBe(ran.length)
        const others = items.filter(({ state }) => !['done', 'missed', 'skipped'].includes(state))
        expect(others).toEqual([])
        const { message_count: messages } = await call(
          'GET',
          `/api/conversations/${ran[0]?.conversation_id}`,
        )
        expect(messages, 'one question and one answer for each run').toBe(2 * ran.length)
      }
      expect(total).toBeGreaterThan(EVERY_MINUTE * JUMPS)
    },
    LIMIT_MS,
  )
})

describe.skipIf(!hasRedis)('schedules of two instances', () => {
  const instances = useInstanceProcesses(2)
  const { processes } = instances

  test(
    'when the instance that looks at the clock dies or is paused, the other one goes on, and no due time runs twice',
    async () => {
      instances.upstream.program(() => turn.text('It is done.', { delayMs: 20 }))
      const through =
        (index: number): Call =>
        (method, path, body) =>
          instances.call(index, method, path, body)
      const signal = (index: number, name: NodeJS.Signals) =>
        process.kill(processes[index]?.pid ?? 0, name)

      // Afterwards the second one leads, whichever did before.
      await processes[0]?.kill('SIGKILL')
      await assertOnce(through(1), await makeDue(through(1), 1, 'alone'))
      await instances.restart(0)

      const killed = await makeDue(through(0), DUE_EACH, 'killed')
      const begun = instances.upstream.requests.length
      await eventually(() => expect(instances.upstream.requests.length).toBeGreaterThan(begun))
      await processes[1]?.kill('SIGKILL')
      await assertOnce(through(0), killed)
      await instances.restart(1)

      const paused = await makeDue(through(1), DUE_EACH, 'paused')
      const before = instances.upstream.requests.length
      await eventually(() => expect(instances.upstream.requests.length).toBeGreaterThan(before))
      signal(0, 'SIGSTOP')
      try {
        await assertOnce(through(1), paused)
      } finally {
        signal(0, 'SIGCONT')
      }
      // The one that was paused looks again, too, and finds nothing to do.
      await assertOnce(through(0), await makeDue(through(0), 1, 'after'))
      await assertOnce(through(0), [...killed, ...paused])
    },
    LIMIT_MS,
  )
})
