// A kill exactly at the n-th write of a run: whatever was being written, the next start finds a consistent state.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Death, useCrashRounds } from '../support/faults/crash-rounds.ts'
import {
  type CommitProxy,
  canTrace,
  dyingAtWrite,
  killAtWrite,
  startCommitProxy,
  type WriteCall,
} from '../support/faults/write-killer.ts'

const isFull = process.env.FAULTS === 'full'
// The write-ahead log is synced in the thread pool, and strace counts calls per thread: so the pool has one thread.
beforeAll(() => void vi.stubEnv('UV_THREADPOOL_SIZE', '1'))
afterAll(() => void vi.unstubAllEnvs())
const HOURS = { timeout: 3 * 3_600_000 }

/** A kill that `prepare` arms; calls `onSurvived` if the run ended before it struck. */
const awaited = (prepare: NonNullable<Death['prepare']>, onSurvived: () => void): Death => ({
  prepare,
  async die(server, stream) {
    await (stream === null ? server.exited : Promise.race([server.exited, stream.all()]))
    await server.kill('SIGKILL')
    if (stream?.events.at(-1)?.event === 'done') onSurvived()
  },
})

/** Calls `round` with 1, 1 + step, … until it returns true: the run had fewer writes. Returns that number. */
async function untilSurvived(step: number, round: (n: number) => Promise<boolean>) {
  let n = 1
  while (!(await round(n))) n += step
  return n
}

const title = `kill at a write of SQLite${canTrace ? '' : ' (skipped: strace is not here or may not be used)'}`
describe.skipIf(!canTrace)(title, () => {
  const crash = useCrashRounds('sqlite')

  async function dieAt(call: WriteCall, n: number): Promise<boolean> {
    let survived = false
    const trap = awaited(
      ({ pid }) => killAtWrite(pid, call, n),
      () => {
        survived = true
      },
    )
    await crash.round(`Task ${call} ${n}`, trap)
    return survived
  }

  test.skipIf(isFull)('at some writes loses and repeats nothing', async () => {
    for (const [call, n] of [
      ['fdatasync', 5],
      ['pwrite64', 40],
    ] as const)
      expect(await dieAt(call, n), `${call} ${n}`).toBe(false)
    await crash.expectUsageCountedOnce()
  })

  test.runIf(isFull)(
    'at every write that makes a change durable loses and repeats nothing',
    HOURS,
    async () => {
      expect(await untilSurvived(1, (n) => dieAt('fdatasync', n))).toBeGreaterThan(5)
    },
  )

  test.runIf(isFull)('at every fourth page write loses and repeats nothing', HOURS, async () => {
    expect(await untilSurvived(4, (n) => dieAt('pwrite64', n))).toBeGreaterThan(40)
    await crash.expectUsageCountedOnce()
  })

  test('at writes of the start that resumes the run loses and repeats nothing', HOURS, async () => {
    for (const n of isFull ? Array.from({ length: 25 }, (_, at) => 1 + at * 2) : [6])
      await crash.round(`Task of a start that dies ${n}`, {
        async die(server, stream) {
          await stream?.next(() => (stream?.events.length ?? 0) > 15)
          await server.kill('SIGKILL')
          // It may die before it is ready, while it resumes the run, or not at all.
          const second = await crash.place
            .start({ wrapper: dyingAtWrite('pwrite64', n) })
            .catch(() => null)
          await second?.kill('SIGKILL')
        },
      })
  })
})

describe('kill at a commit to PostgreSQL', () => {
  let proxy: CommitProxy
  afterAll(() => proxy.close())
  const crash = useCrashRounds('postgres', async (settings) => {
    if (settings.dialect !== 'postgres' || !('url' in settings.connection))
      throw new Error('asked for the URL of a PostgreSQL server')
    const url = new URL(settings.connection.url)
    proxy = await startCommitProxy({ host: url.hostname, port: Number(url.port || 5432) })
    url.host = `127.0.0.1:${proxy.port}`
    return { ...settings, connection: { url: url.href } }
  })

  async function dieAt(when: 'before' | 'after', n: number, repetition = 0): Promise<boolean> {
    let survived = false
    const trap = awaited(
      async ({ pid }) => proxy.killAt(n, when, () => process.kill(pid, 'SIGKILL')),
      () => {
        proxy.disarm()
        survived = true
      },
    )
    await crash.round(`Task ${when} ${n} ${repetition}`, trap)
    return survived
  }

  test.skipIf(isFull)(
    'before and after some commits take effect loses and repeats nothing',
    async () => {
      for (const [when, n] of [
        ['after', 1],
        ['before', 4],
      ] as const)
        expect(await dieAt(when, n), `${when} ${n}`).toBe(false)
      await crash.expectUsageCountedOnce()
    },
  )

  test.runIf(isFull)(
    'before and after every commit takes effect loses and repeats nothing',
    HOURS,
    async () => {
      for (let repetition = 0; repetition < 3; repetition += 1)
        for (const when of ['before', 'after'] as const)
          expect(await untilSurvived(1, (n) => dieAt(when, n, repetition))).toBeGreaterThan(5)
      await crash.expectUsageCountedOnce()
    },
  )
})
