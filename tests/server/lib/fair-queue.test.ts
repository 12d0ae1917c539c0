// The queue in front of shared workers, with scripted work.
import { expect, test } from 'vitest'
import { createFairQueue } from '../../../server/lib/fair-queue.ts'
import { randomFrom, SEED } from '../../support/random.ts'

/** Work that ends when the test says so; `begun` lists it in the order in which it began. */
function scripted(options: { size: number; perOwner?: number }) {
  const queue = createFairQueue(options)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const add = (owner: string | null, name: string) =>
    queue.run(owner, async () => {
      begun.push(name)
      await new Promise<void>((end) => ends.set(name, end))
      return name
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    ends.delete(name)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { queue, begun, add, end, open: () => [...ends.keys()] }
}

test('an owner with much work does not delay the first work of the others', async () => {
  const { begun, add, end, queue } = scripted({ size: 1 })
  for (let n = 1; n <= 50; n += 1) void add('ann', `ann ${n}`)
  void add('bob', 'bob 1')
  void add('bob', 'bob 2')
  void add('cyd', 'cyd 1')
  expect([queue.waiting(), queue.waiting('ann'), queue.waiting('dan')]).toEqual([52, 49, 0])
  for (let done = 0; done < 6; done += 1) await end(begun.at(-1) ?? '')
  expect(begun).toEqual(['ann 1', 'ann 2', 'bob 1', 'cyd 1', 'ann 3', 'bob 2', 'ann 4'])
})

test('an owner cannot run more than allowed, and slots are left for others', async () => {
  const { begun, add, end } = scripted({ size: 3, perOwner: 1 })
  for (const name of ['ann 1', 'ann 2']) void add('ann', name)
  for (const name of ['nobody 1', 'nobody 2']) void add(null, name)
  await end('')
  expect(begun).toEqual(['ann 1', 'nobody 1', 'nobody 2'])
  void add('bob', 'bob 1')
  await end('nobody 1')
  expect(begun.at(-1)).toBe('bob 1')
  await end('ann 1')
  expect(begun.at(-1)).toBe('ann 2')
})

test('failed work frees its slot', async () => {
  const queue = createFairQueue({ size: 1 })
  const failed = queue.run('ann', async () => Promise.reject(new Error('broken')))
  const next = queue.run('ann', async () => 'fine')
  await expect(failed).rejects.toThrow('broken')
  expect(await next).toBe('fine')
})

test(`all work runs once, in its owner's order, and never more at once than allowed (SEED=${SEED})`, async () => {
  const { below: pick } = randomFrom(SEED)
  const { begun, add, end, open, queue } = scripted({ size: 3, perOwner: 2 })
  const added: string[] = []
  const all: Promise<string>[] = []
  while (added.length < 300 || open().length > 0) {
    if (added.length < 300 && pick(2) === 0) {
      const owner = `user ${pick(5)}`
      added.push(`${owner} ${added.length}`)
      all.push(add(owner, added.at(-1) ?? ''))
    }
    const now = open()
    expect(now.length).toBeLessThanOrEqual(3)
    if (now.length > 0 && pick(2) === 0) await end(now[pick(now.length)] ?? '')
    else await end('')
  }
  await Promise.all(all)
  const of = (names: string[], user: number) =>
    names.filter((name) => name.startsWith(`user ${user} `))
  for (let user = 0; user < 5; user += 1) expect(of(begun, user)).toEqual(of(added, user))
  expect(queue.waiting()).toBe(0)
})
