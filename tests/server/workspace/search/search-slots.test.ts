// Concurrency limits of searches: in total and per user; the waiting user with the fewest running searches goes first.
import { expect, test } from 'vitest'
import type { UserId } from '../../../../server/protocol/ids.ts'
import { createSearchSlots } from '../../../../server/workspace/search/project-search.ts'
import { rounds, SEED } from '../../../support/random.ts'

const limits = { perUser: 2, total: 3, waitingPerUser: 4 }
const slow = 'slow' as UserId
const quick = 'quick' as UserId

/** Searches that the test ends by name. */
function createSearches(slots = createSearchSlots(limits)) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const search = (userId: UserId, name: string, signal?: AbortSignal): Promise<void> =>
    slots.run(
      userId,
      () =>
        new Promise<void>((resolve) => {
          begun.push(name)
          ends.set(name, resolve)
        }),
      signal,
    )
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    ends.delete(name)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { search, begun, ends, end }
}

test('a user with many slow searches does not delay the first search of another user', async () => {
  const { search, begun, end } = createSearches()
  const all = ['s1', 's2', 's3', 's4'].map((name) => search(slow, name))
  await Promise.resolve()
  expect(begun).toEqual(['s1', 's2'])
  const others = ['q1', 'q2'].map((name) => search(quick, name))
  await Promise.resolve()
  expect(begun).toEqual(['s1', 's2', 'q1'])
  // Now both users have one search running, so the one that has waited longest begins.
  await end('s1')
  expect(begun).toEqual(['s1', 's2', 'q1', 's3'])
  await end('q1')
  expect(begun.at(-1)).toBe('q2')
  for (const name of ['s2', 's3', 'q2', 's4']) await end(name)
  await Promise.all([...all, ...others])
})

test('a waiting search ends with its signal, and a search beyond the limit is refused with a clear message', async () => {
  const { search, begun, end } = createSearches()
  const stopping = new AbortController()
  const all = ['s1', 's2', 's3', 's4', 's5'].map((name) => search(slow, name))
  const stopped = search(slow, 's6', stopping.signal)
  await expect(search(slow, 's7')).rejects.toMatchObject({
    reason: 'search_busy',
    message: expect.stringContaining('4 searches'),
  })
  stopping.abort()
  await expect(stopped).rejects.toMatchObject({ reason: 'request_stopped' })
  const next = search(slow, 's8')
  for (const name of ['s1', 's2', 's3', 's4', 's5', 's8']) await end(name)
  await Promise.all([...all, next])
  expect(begun).not.toContain('s6')
})

test(`the limits hold and every search gets its turn in any order (SEED=${SEED})`, async () => {
  for (const { random, what } of rounds(20)) {
    const { search, ends, end } = createSearches(
      createSearchSlots({ ...limits, waitingPerUser: 50 }),
    )
    const users = ['a', 'b', 'c', 'd'] as UserId[]
    const all: Promise<void>[] = []
    for (let at = 0; at < 60; at += 1) {
      if (random.share() < 0.6) {
        const userId = random.pick(users)
        all.push(search(userId, `${userId}${at}`))
        await Promise.resolve()
      } else if (ends.size > 0) await end(random.pick([...ends.keys()]))
      expect(ends.size, what).toBeLessThanOrEqual(limits.total)
      for (const userId of users)
        expect(
          [...ends.keys()].filter((name) => name.startsWith(userId)).length,
          what,
        ).toBeLessThanOrEqual(limits.perUser)
    }
    while (ends.size > 0) for (const name of [...ends.keys()]) await end(name)
    await Promise.all(all)
  }
})
