// What the clock of schedules does when the store does not answer.
import { expect, onTestFinished, test } from 'vitest'
import { type ClockDependencies, createScheduleClock } from '../../../server/schedules/clock.ts'
import { eventually } from '../../support/eventually.ts'

/** A clock whose time a test moves, second by second, over what `given` says of the store. */
function moved(given: (time: () => number) => object) {
  let time = DUE_AT.getTime()
  let beat = async (): Promise<void> => {}
  const warnings: string[] = []
  const clock = createScheduleClock({
    followRuns: () => {},
    now: () => new Date(time),
    every: (_ms: number, work: () => Promise<void>) => {
      beat = work
      return () => {}
    },
    log: { warn: (_details: object, message: string) => warnings.push(message) },
    isEnabled: true,
    isShared: false,
    ...given(() => time),
    // Only what is read of a schedule that is due.
  } as unknown as ClockDependencies)
  const end = clock.lead()
  onTestFinished(async () => {
    await end()
    await clock.stop()
  })
  return {
    warnings,
    async pass(seconds: number): Promise<void> {
      for (let second = 1; second <= seconds; second += 1) {
        time += 1_000
        await beat()
        // Whatever a beat begins ends within one turn of the event loop here.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}
const DUE_AT = new Date('2027-11-07T05:11:00Z')
const DUE = { kind: 'schedule', id: 'one', userId: 'ann', dueAt: DUE_AT }
const secondsAfter = (time: number): number => (time - DUE_AT.getTime()) / 1_000

test('a due schedule that could not be read is tried again within seconds, and less often while that keeps failing', async () => {
  const tries: number[] = []
  const { warnings, pass } = moved((time) => ({
    store: {
      schedules: {
        ofClock: async () => [DUE],
        async get() {
          tries.push(secondsAfter(time()))
          if (tries.length < 4) throw new Error('The connection has ended.')
        },
      },
    },
    schedules: { onDue: () => {} },
  }))
  await eventually(() => expect(warnings).toHaveLength(1))
  await pass(20)
  expect(tries).toEqual([0, 2, 6, 14])
})

test('a due schedule that another process has moved on meanwhile is looked at again at once, for what that one stored', async () => {
  const looks: number[] = []
  const row = {
    id: 'one',
    userId: 'ann',
    isActive: true,
    projectId: null,
    nextAt: DUE_AT,
    enabled: true,
    since: DUE_AT,
    settings: {
      ...{ text: 'Look.', model: null, skills: [], when: { every: '1d' }, zone: null },
      ...{ conversation: 'same', quiet: false, watch: null, checks: [], catchUp: 'one' },
      ...{ overlap: 'skip', limits: {}, approval: null, notify: null },
    },
  }
  const { warnings, pass } = moved((time) => ({
    store: {
      schedules: {
        async ofClock() {
          looks.push(secondsAfter(time()))
          return looks.length === 1 ? [DUE] : []
        },
        get: async () => row,
        countBefore: async () => 0,
        lock: async () => row,
        // The other process has moved it on once it is locked.
        advance: async () => undefined,
      },
    },
    database: { write: (work: (tx: object) => Promise<unknown>) => work({}) },
    schedules: { onDue: () => {}, assertAllowed: () => {}, maxPerUser: () => 50 },
    catchUpHours: 24,
  }))
  await eventually(() => expect(looks).toHaveLength(1))
  await new Promise((resolve) => setImmediate(resolve))
  await pass(3)
  expect(warnings).toEqual([])
  expect(looks).toEqual([0, 1])
})
