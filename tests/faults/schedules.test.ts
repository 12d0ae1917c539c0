// Schedules when their process is killed or paused: every due time is one occurrence with one run, whichever instance looks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, inject, test } from 'vitest'
import {
  clockChanges,
  dueMinutes,
  type Shown,
  shownMinutes,
  ZONES,
} from '../support/clock-times.ts'
import { eventually } from '../support/eventually.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { type Random, randomFrom, SEED } from '../support/random.ts'
import { callServer } from '../support/server/call-server.ts'
import { useInstanceProcesses } from '../support/server/instance-processes.ts'
import { databaseKeys } from '../support/server/server.ts'
import { NO_PROGRAMS, type ServerPlace, serverPlace } from '../support/server/server-process.ts'
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
  detail: string | null
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
        ...NO_PROGRAMS,
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

/** Patterns whose times fall into the hours that are missing or come twice. */
const PATTERNS: readonly { cron: string; isEveryHour: boolean; matches(time: Shown): boolean }[] = [
  { cron: '*/10 * * * *', isEveryHour: true, matches: ({ minute }) => minute % 10 === 0 },
  {
    cron: '10-50/20 0-2 * * *',
    isEveryHour: false,
    matches: ({ minute, hour }) => hour <= 2 && [10, 30, 50].includes(minute),
  },
  {
    cron: '30 2 * * *',
    isEveryHour: false,
    matches: ({ minute, hour }) => hour === 2 && minute === 30,
  },
]
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A year whose days of change are all to come. */
const YEAR = new Date().getUTCFullYear() + 1
const CHANGES = [...new Set(ZONES.flatMap((zone) => clockChanges(zone, YEAR)))].toSorted(
  (one, other) => one - other,
)
/** The clock is moved over these, those of a half of the year by one server: from so long before each to so long after it. */
const CROSSED = isFull
  ? [CHANGES.slice(0, CHANGES.length / 2), CHANGES.slice(CHANGES.length / 2)]
  : [CHANGES.slice(0, 1)]
/** Of both halves together, twice as many. */
const LEAST_TIMES = isFull ? 5_000 : 200
const AROUND_MS = (isFull ? 6 : 4) * HOUR_MS
/** Of times that come every ten minutes, fewer than a hundred pass at once there: each is listed. */
const LONGEST_JUMP_MS = 8 * HOUR_MS

/** To which times the clock is set: behind and before days of change, in random jumps, every fourth followed by one back. */
function jumpsOver(changes: readonly number[], random: Random): number[] {
  const times: number[] = []
  let furthest = 0
  for (const change of changes) {
    furthest = Math.max(furthest, change - AROUND_MS)
    while (furthest < change + AROUND_MS) {
      furthest += HOUR_MS + random.below(LONGEST_JUMP_MS - HOUR_MS)
      times.push(furthest)
      if (times.length % 4 === 3) times.push(furthest - random.below(10) * MINUTE_MS)
    }
  }
  return times
}

/** Of so many jumps of the clock, one is that of a server which was killed meanwhile; the others happen to one that works. */
const JUMPS_EACH_KILL = 3
/** How long a server may take to notice that its clock was set back. */
const NOTICED_MS = 1_500
/** The newest of a schedule, which are kept; older ones go a day after they ended. */
const KEPT = 1_000
/** Kills before what runs may end. */
const BURST = 5

type Minutes = ReturnType<typeof shownMinutes>
const minutesOf = new Map<string, Minutes>()

/** What clocks in the zone show between the two instants: read once for all patterns and databases, a minute takes microseconds. */
function minutesBetween(zone: string, from: number, to: number): Minutes {
  const key = `${zone} ${from} ${to}`
  const minutes = minutesOf.get(key) ?? shownMinutes(zone, from, to)
  minutesOf.set(key, minutes)
  return minutes
}

/** Nothing is due at this time, and nothing runs. */
async function assertIdle(call: Call, time: number): Promise<void> {
  const { items } = await call('GET', '/api/schedules?limit=100')
  for (const { next_at: next, last } of items) {
    expect(Date.parse(next)).toBeGreaterThan(time)
    expect(['running', 'waiting']).not.toContain(last?.state)
  }
}

const SERVERS = DIALECTS.flatMap((dialect) => CROSSED.map((crossed) => [dialect, crossed] as const))

describe.each(SERVERS)('schedules in six zones of a server on %s', (dialect, crossed) => {
  const databases = useDatabases()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-clock-'))
  let place: ServerPlace | undefined
  afterAll(async () => {
    await place?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    `each due time over changes of clocks, the first on ${new Date(crossed[0] ?? 0).toISOString().slice(0, 10)}, is one occurrence, through kills and jumps forward and back: it ran once, or is listed as missed (SEED=${SEED})`,
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
          ...NO_PROGRAMS,
          schedules: { min_interval: 60, max_failures: 1_000 },
        },
        [...clock, join(inject('serverBuild'), 'main.js')],
      )
      let ahead = 0
      const aheadFile = join(folder, 'ahead')
      const setClock = (time: number): void => {
        ahead = time - Date.now()
        writeFileSync(aheadFile, String(ahead))
      }
      const startAt = async (time: number) => {
        setClock(time)
        return await place?.start({ wrapper: ['env', `AHEAD_FILE=${aheadFile}`] })
      }
      const begin = (crossed[0] ?? 0) - AROUND_MS - HOUR_MS
      let server = await startAt(begin)
      const call: Call = (method, path, body) => callTo(server?.url ?? '', method, path, body)
      const schedules: { id: string; zone: string; pattern: (typeof PATTERNS)[number] }[] = []
      for (const zone of ZONES)
        for (const pattern of PATTERNS) {
          const { id } = await call('POST', '/api/schedules', {
            name: `${zone} ${pattern.cron}`,
            text: 'Go on.',
            when: { cron: pattern.cron, tz: zone },
          })
          schedules.push({ id, zone, pattern })
        }
      let furthest = begin
      let kills = 0
      for (const time of jumpsOver(crossed, random)) {
        const begun = upstream.requests.length
        if (server !== undefined && random.below(JUMPS_EACH_KILL) > 0) {
          // As a machine that slept, or whose clock was set.
          setClock(time)
          process.kill(server.pid, 'SIGUSR2')
        } else {
          kills += 1
          // A run is given up when its process died eight times without progress.
          if (kills % BURST === 0) await eventually(() => assertIdle(call, Date.now() + ahead))
          await server?.kill('SIGKILL')
          server = await startAt(time)
        }
        if (time <= furthest) {
          const moved = Date.now()
          await eventually(() => expect(Date.now()).toBeGreaterThan(moved + NOTICED_MS))
          continue
        }
        furthest = time
        // The newest time of each that comes every ten minutes runs; the clock jumps again after some of them.
        const wanted = begun + 1 + random.below(ZONES.length)
        await eventually(async () => {
          // Fewer run if some of before are not over yet: those of now are skipped then.
          if (upstream.requests.length < wanted) await assertIdle(call, time)
        })
      }
      await server?.kill('SIGKILL')
      const end = furthest + HOUR_MS
      server = await startAt(end)
      let total = 0
      for (const { id, zone, pattern } of schedules) {
        const what = `${zone} ${pattern.cron}`
        const { created_at: made } = await call('GET', `/api/schedules/${id}`)
        const expected = dueMinutes(
          minutesBetween(zone, begin - 24 * HOUR_MS, end + HOUR_MS),
          pattern.matches,
          pattern.isEveryHour,
        ).filter((instant) => instant > Date.parse(made))
        const passed = expected.filter((instant) => instant <= end).length
        const { items, gone } = await eventually(async () => {
          const found = await allOccurrences(call, id)
          expect(found.filter(({ state }) => state === 'running' || state === 'waiting')).toEqual(
            [],
          )
          const oldest = Date.parse(found.at(-1)?.due_at ?? '')
          const before = found.length < KEPT ? 0 : expected.indexOf(oldest)
          const listed = found.reduce((sum, { count = 1 }) => sum + count, before)
          expect([what, listed]).toEqual([what, Math.max(listed, passed)])
          return { items: found, gone: before }
        })
        let at = gone
        for (const { due_at: due, count = 1 } of items.toReversed()) {
          const wanted = new Date(expected[at] ?? 0).toISOString()
          expect([what, due], 'no time is missing or comes twice').toEqual([what, wanted])
          at += count
        }
        total += at - gone
        const others = items.filter(({ state }) => !['done', 'missed', 'skipped'].includes(state))
        expect(others.map(({ state, detail, due_at: due }) => [what, due, state, detail])).toEqual(
          [],
        )
        const ran = items.filter(({ run_id: run }) => run !== null)
        expect(new Set(ran.map(({ run_id: run }) => run)).size).toBe(ran.length)
        const [first] = ran
        if (first === undefined) continue
        const conversation = await call('GET', `/api/conversations/${first.conversation_id}`)
        if (gone === 0)
          expect(conversation.message_count, 'one question and one answer for each run').toBe(
            2 * ran.length,
          )
      }
      expect(total).toBeGreaterThan(LEAST_TIMES)
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
