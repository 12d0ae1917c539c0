// Everybody in a project learns of changed files: their pages at once, wherever they are open, and those that are away when they
// return. Telling many people costs a bounded amount.
import { expect, onTestFinished, test, vi } from 'vitest'
import { type ChangeLog, createChangeLog } from '../../../server/changes/change-log.ts'
import type { CheckpointFile } from '../../../server/db/tables/projects/checkpoints.ts'
import type { Change } from '../../../server/protocol/change.ts'
import type { ProjectId, UserId } from '../../../server/protocol/ids.ts'
import { createFileAnnouncer } from '../../../server/workspace/announce-files.ts'

const user = (name: string) => name as UserId // ids are opaque here
const PROJECT = 'p' as ProjectId // as above
const ANN = user('ann')
const added = (path: string): CheckpointFile => ({
  path,
  change: 'added',
  before: null,
  after: { kind: 'file', hash: 'h', size: 1, mode: 0o600 },
})
const told = (id: string): Change => ({ type: 'file', id, change: 'created', project_id: PROJECT })
const SEVERAL: Change = { type: 'file', id: '', change: 'updated', project_id: PROJECT }

/** An announcer at a simulated time, in a project with these people, of whom more than `many` are many. */
function announcerFor(
  people: readonly UserId[],
  { many, log = createChangeLog() }: { many?: number; log?: ChangeLog } = {},
) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let reads = 0
  let read = async (): Promise<UserId[]> => [...people]
  const warnings: string[] = []
  const announce = createFileAnnouncer({
    members: {
      isShared: async () => people.length > 1,
      people: () => {
        reads += 1
        return read()
      },
    },
    changes: log,
    log: { warn: (_details, message) => void warnings.push(message) },
    ...(many === undefined ? {} : { many }),
  })
  return {
    log,
    warnings,
    reads: () => reads,
    readWith: (next: typeof read) => {
      read = next
    },
    change: (...paths: string[]) => announce(PROJECT, ANN, paths.map(added)),
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  }
}

const changesOf = (log: ChangeLog, person: UserId, id: string) =>
  log.since(person, id)?.map(({ change }) => change)

test.each([
  { people: 'few', many: 10 },
  { people: 'many', many: 1 },
])('a change is told to each of $people people once, and not to strangers', async ({ many }) => {
  const bob = user('bob')
  const { log, change, pass } = announcerFor([ANN, bob], { many })
  for (const person of [ANN, bob, user('eve')]) log.subscribe(person, () => {})
  const before = log.lastId()
  change('a.txt')
  await pass(20)
  for (const person of [ANN, bob]) expect(changesOf(log, person, before)).toEqual([told('a.txt')])
  expect(changesOf(log, user('eve'), before)).toEqual([])
})

test('one of many people whose page reconnects after a change reads everything again, and one of few gets the change', async () => {
  const people = ['ann', 'bob', 'cem'].map(user)
  for (const maxStored of [1, 3]) {
    const { log, change, pass } = announcerFor(people, { log: createChangeLog({ maxStored }) })
    const bob = user('bob')
    const leave = log.subscribe(bob, () => {})
    log.publish(bob, { type: 'settings', id: 'bob', change: 'updated' })
    const id = log.lastId()
    leave()
    change('a.txt')
    await pass(20)
    log.subscribe(bob, () => {})
    expect(changesOf(log, bob, id)).toEqual(maxStored === 1 ? undefined : [told('a.txt')])
    expect(changesOf(log, bob, log.lastId())).toEqual([])
  }
})

test('each of 2,500 people with an open page is told, and the page of somebody else does not read everything again', async () => {
  const people = Array.from({ length: 2_500 }, (_, at) => user(`user ${at}`))
  const { log, change, pass } = announcerFor(people)
  const eve = user('eve')
  const before = log.lastId()
  log.subscribe(eve, () => {})
  log.publish(eve, { type: 'settings', id: 'eve', change: 'updated' })
  const seen = log.lastId()
  const received = new Map<UserId, (Change[] | undefined)[]>()
  for (const person of people) {
    let sentId = log.lastId()
    received.set(person, [])
    log.subscribe(person, () =>
      queueMicrotask(() => {
        received.get(person)?.push(changesOf(log, person, sentId))
        sentId = log.lastId()
      }),
    )
  }
  for (const path of ['a.txt', 'b.txt']) {
    change(path)
    await pass(2_000)
  }
  for (const person of people)
    expect(received.get(person)).toEqual([[told('a.txt')], [told('b.txt')]])
  expect(log.since(eve, seen)).toEqual([])
  expect(log.since(eve, before)).toBeNull()
})

test('what changes while many people are being told is told together, once, after a longer pause', async () => {
  const { log, change, pass, reads, readWith } = announcerFor([ANN, user('bob')], { many: 1 })
  let release = (): void => {}
  readWith(
    () =>
      new Promise((resolve) => {
        release = () => resolve([ANN, user('bob')])
      }),
  )
  const before = log.lastId()
  change('a.txt')
  await pass(20)
  for (let at = 0; at < 50; at += 1) {
    change(`${at}.txt`)
    await pass(50)
  }
  expect(reads()).toBe(1)
  release()
  await pass(999)
  expect(reads()).toBe(1)
  await pass(1)
  expect(reads()).toBe(2)
  release()
  await pass(5_000)
  expect(reads()).toBe(2)
  expect(changesOf(log, user('bob'), before)).toEqual([told('a.txt'), SEVERAL])
})

test('those who made a change are told although the members cannot be read, and the next change reaches everybody', async () => {
  const bob = user('bob')
  const { log, change, pass, warnings, readWith } = announcerFor([ANN, bob])
  const before = log.lastId()
  readWith(async () => {
    throw new Error('The database is away.')
  })
  change('a.txt')
  await pass(20)
  expect(changesOf(log, ANN, before)).toEqual([told('a.txt')])
  expect(changesOf(log, bob, before)).toEqual([])
  expect(warnings).toEqual(['open pages were not told of changed files'])
  readWith(async () => [ANN, bob])
  change('b.txt')
  await pass(20)
  expect(changesOf(log, bob, before)).toEqual([told('b.txt')])
})
