// What the clock of schedules does when the store does not answer.
import { expect, test } from 'vitest'
import { type ClockDependencies, createScheduleClock } from '../../../server/schedules/clock.ts'
import { eventually } from '../../support/eventually.ts'

test('a due schedule that could not be read is tried again within seconds, and less often while that keeps failing', async () => {
  let time = Date.parse('2027-11-07T05:11:00Z')
  const dueAt = new Date(time)
  let beat = async (): Promise<void> => {}
  const tries: number[] = []
  const warnings: string[] = []
  // Only what is read of a schedule that is due.
  const given = {
    store: {
      schedules: {
        ofClock: async () => [{ kind: 'schedule', id: 'one', userId: 'ann', dueAt }],
        async get() {
          tries.push((time - dueAt.getTime()) / 1_000)
          if (tries.length < 4) throw new Error('The connection has ended.')
        },
      },
    },
    schedules: { onDue: () => {} },
    followRuns: () => {},
    now: () => new Date(time),
    every: (_ms: number, work: () => Promise<void>) => {
      beat = work
      return () => {}
    },
    log: { warn: (_details: object, message: string) => warnings.push(message) },
    isEnabled: true,
    isShared: false,
  } as unknown as ClockDependencies
  const clock = createScheduleClock(given)
  const end = clock.lead()
  await eventually(() => expect(warnings).toHaveLength(1))
  for (let second = 1; second <= 20; second += 1) {
    time += 1_000
    await beat()
    // Whatever a beat begins ends within one turn of the event loop here.
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(tries).toEqual([0, 2, 6, 14])
  await end()
  await clock.stop()
})

test('a due schedule that another process has moved on meanwhile is looked at again at once, for what that one stored', async () => {
  let time = Date.parse('2027-11-07T05:11:00Z')
  const dueAt = new Date(time)
  let beat = async (): Promise<void> => {}
  const looks: number[] = []
  const warnings: object[] = []
  const row = {
    id: 'one',
    userId: 'ann',
    isActive: true,
    projectId: null,
    nextAt: dueAt,
    enabled: true,
    since: dueAt,
    settings: {
      ...{ text: 'Look.', model: null, skills: [], when: { every: '1d' }, zone: null },
      ...{ conversation: 'same', quiet: false, watch: null, checks: [], catchUp: 'one' },
      ...{ overlap: 'skip', limits: {}, approval: null, notify: null },
    },
  }
  // Only what is read of a schedule that is due; the other process has moved it on once it is locked.
  const given = {
    store: {
      schedules: {
        async ofClock() {
          looks.push((time - dueAt.getTime()) / 1_000)
          return looks.length === 1 ? [{ kind: 'schedule', id: 'one', userId: 'ann', dueAt }] : []
        },
        get: async () => row,
        countBefore: async () => 0,
        lock: async () => row,
        advance: async () => undefined,
      },
    },
    database: { write: (work: (tx: object) => Promise<unknown>) => work({}) },
    schedules: {
      onDue: () => {},
      assertAllowed: () => {},
      maxPerUser: () => 50,
    },
    followRuns: () => {},
    now: () => new Date(time),
    every: (_ms: number, work: () => Promise<void>) => {
      beat = work
      return () => {}
    },
    log: { warn: (details: object) => warnings.push(details) },
    catchUpHours: 24,
    isEnabled: true,
    isShared: false,
  } as unknown as ClockDependencies
  const clock = createScheduleClock(given)
  const end = clock.lead()
  await eventually(() => expect(looks).toHaveLength(1))
  await new Promise((resolve) => setImmediate(resolve))
  for (let second = 1; second <= 3; second += 1) {
    time += 1_000
    await beat()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(warnings).toEqual([])
  expect(looks).toEqual([0, 1])
  await end()
  await clock.stop()
})
