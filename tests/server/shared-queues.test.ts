// Work that all users share, besides Markdown and large responses: who has much of it does not delay the others.
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import type { TransferRow } from '../../server/db/repositories/conversations/transfers.ts'
import { createStore } from '../../server/db/store.ts'
import { createIngest } from '../../server/knowledge/ingest.ts'
import { createFairQueue } from '../../server/lib/fair-queue.ts'
import { newId } from '../../server/lib/ids.ts'
import { storedFailure } from '../../server/protocol/failures/stored.ts'
import type { TransferId, UserId } from '../../server/protocol/ids.ts'
import type { OccurrenceId } from '../../server/protocol/schedules/schedule.ts'
import { type ClockDependencies, createScheduleClock } from '../../server/schedules/clock.ts'
import { type ProgressDependencies, progress } from '../../server/schedules/progress.ts'
import { createJobQueue } from '../../server/transfer/jobs.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnEachDatabase } from '../support/store/databases.ts'
import { addProject, addUser } from '../support/store/rows.ts'

const quiet = { warn() {} }

const transferRow = (kind: 'export' | 'import', userId: UserId): TransferRow => ({
  id: newId<TransferId>(),
  userId,
  kind,
  status: 'queued',
  name: null,
  format: null,
  done: 0,
  total: 0,
  size: null,
  report: null,
  failure: null,
  createdAt: new Date(),
  endedAt: null,
})

describeOnEachDatabase('shared work', (open) => {
  test('a document of another user is read while many of one user wait', async () => {
    const database = await open()
    const { documents } = createStore(database)
    const begun: string[] = []
    const ends: (() => void)[] = []
    const ingest = createIngest({
      documents,
      folder: tmpdir(),
      vectors: undefined,
      onChange() {},
      // Claiming is the first step of reading; nobody reads on after a claim that was refused.
      claims: {
        claim: (name) =>
          new Promise((resolve) => {
            begun.push(name)
            ends.push(() => resolve(false))
          }),
        async finish() {},
        holds: async () => true,
        isShared: false,
      },
      log: quiet,
    })
    const add = async (count: number): Promise<string[]> => {
      const userId = await addUser(database)
      const projectId = await addProject(database, userId)
      const works: string[] = []
      for (let at = 0; at < count; at += 1) {
        const file = { name: `${at}.txt`, mime: 'text/plain', size: 1 }
        const row = await documents.create({ projectId, userId, ...file })
        works.push(`document:${row.id}`)
        ingest.add(row)
      }
      return works
    }
    const many = await add(24)
    await expect.poll(() => begun.length).toBeGreaterThan(0)
    const before = begun.length
    const [one] = await add(1)
    // Nothing of the first user has ended meanwhile.
    await expect.poll(() => begun).toContain(one)
    expect(begun).toEqual([...many.slice(0, before), one])
    for (let at = 0; at < 25; at += 1) {
      await expect.poll(() => ends.length).toBeGreaterThan(at)
      ends[at]?.()
    }
    await ingest.stop()
  })

  test.each(['export', 'import'] as const)(
    'an %s of another user runs while several of one user wait, and exports do not wait for imports',
    async (kind) => {
      const database = await open()
      const { transfers } = createStore(database)
      const queue = createJobQueue({ transfers, log: quiet, now: () => new Date() })
      const begun: string[] = []
      const ends = new Map<string, () => void>()
      const add = async (of: 'export' | 'import', name: string, userId: UserId): Promise<void> => {
        const row = transferRow(of, userId)
        await transfers.create(row)
        const job = {
          work: () =>
            new Promise<object>((resolve) => {
              begun.push(name)
              ends.set(name, () => resolve({}))
            }),
          failureOf: () => storedFailure('document_lost'),
        }
        queue.add(row, job, async () => {})
      }
      const [ada, bob] = [await addUser(database), await addUser(database)]
      for (let at = 0; at < 4; at += 1) await add(kind, `ada-${at}`, ada)
      await expect.poll(() => begun).toEqual(['ada-0'])
      await add(kind, 'bob', bob)
      await expect.poll(() => begun).toEqual(['ada-0', 'bob'])
      await add(kind === 'export' ? 'import' : 'export', 'other kind', bob)
      await expect.poll(() => begun).toEqual(['ada-0', 'bob', 'other kind'])
      const all = ['ada-0', 'bob', 'other kind', 'ada-1', 'ada-2', 'ada-3']
      for (const name of all) {
        await expect.poll(() => begun).toContain(name)
        ends.get(name)?.()
      }
      await queue.stop()
    },
  )
})

test('the checks of another user are evaluated while slow commands of one user run', async () => {
  const begun: string[] = []
  const stop = new AbortController()
  const settings = {
    text: 'Go',
    when: { hook: true },
    zone: 'UTC',
    model: null,
    skills: [],
    conversation: 'same',
    quiet: false,
    watch: null,
    checks: [{ command: 'true', exits: 0 }],
    catchUp: 'one',
    overlap: 'skip',
    limits: {},
    approval: null,
    notify: null,
  }
  // Only what is read of an occurrence whose run has ended.
  const given = {
    store: {
      occurrences: {
        find: async (id: string) => ({ id, scheduleId: id, runId: id, endedAt: null }),
      },
      schedules: { get: async (id: string) => ({ id, userId: id.split('-')[0], settings }) },
      runs: { find: async (id: string) => ({ id, status: 'completed', endedAt: new Date() }) },
      ledger: { steps: async () => [] },
      messages: { find: async () => undefined },
    },
    claims: { claim: async () => true, finish: async () => {} },
    receipts: { read: async () => null },
    now: () => new Date(),
    runCommand: (_command: string, run: { id: string }) => {
      begun.push(run.id)
      return new Promise((_resolve, reject) => stop.signal.addEventListener('abort', reject))
    },
  } as unknown as ProgressDependencies
  const turns = createFairQueue({ size: 8 })
  const all = ['a-1', 'a-2', 'a-3', 'a-4', 'a-5', 'b-1'].map((id) =>
    progress({ id: id as OccurrenceId, userId: (id.split('-')[0] ?? '') as UserId }, given, {
      turns,
      signal: stop.signal,
    }).catch(() => null),
  )
  await eventually(() => expect(begun).toEqual(['a-1', 'a-2', 'b-1']))
  stop.abort()
  await Promise.all(all)
})

test('when many schedules of one user are due, that of another user is looked at after the first of them', async () => {
  const begun: string[] = []
  let goOn = (): void => {}
  const until = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const at = new Date()
  const all = [...Array.from({ length: 20 }, (_, index) => `a-${index}`), 'b-0']
  // Only what is read of schedules that are due and then gone.
  const given = {
    store: {
      schedules: {
        ofClock: async () =>
          all.map((id) => ({ kind: 'schedule', id, userId: id.split('-')[0], dueAt: at })),
        get: async (id: string) => {
          begun.push(id)
          await until
        },
      },
    },
    schedules: { onDue: () => {} },
    followRuns: () => {},
    now: () => at,
    every: () => () => {},
    log: quiet,
    isEnabled: true,
    isShared: false,
  } as unknown as ClockDependencies
  const clock = createScheduleClock(given)
  const follow = clock.lead()
  await eventually(() => expect(begun).toHaveLength(8))
  goOn()
  await eventually(() => expect(begun).toHaveLength(all.length))
  expect(begun.indexOf('b-0')).toBeLessThan(10)
  await follow()
  await clock.stop()
})
