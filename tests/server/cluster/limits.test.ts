// Limits that several instances count together, on a real Redis behind a connection that can be frozen.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectRedis, type RedisConnections } from '../../../server/cluster/redis.ts'
import { createSharedLimits } from '../../../server/cluster/shared-limits.ts'
import { createStorageRepository } from '../../../server/db/repositories/projects/storage.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { Limits } from '../../../server/lib/limits.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { createStorageQuota } from '../../../server/workspace/storage-quota.ts'
import { type Link, startLink } from '../../support/server/link.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { hasRedis, REDIS_URL, removeKeysOf } from '../../support/store/redis.ts'

describe.skipIf(!hasRedis)('limits of two instances', () => {
  const databases = useDatabases()
  const store = `limits-${randomUUID()}`
  const connections: RedisConnections[] = []
  const joined: ReturnType<typeof createSharedLimits>[] = []
  let link: Link
  let first: Limits
  let second: Limits

  beforeAll(async () => {
    const target = new URL(REDIS_URL)
    link = await startLink({ host: target.hostname, port: Number(target.port || 6379) })
    const join = async (): Promise<Limits> => {
      const redis = connectRedis(`redis://127.0.0.1:${link.port}`, {
        info() {},
        warn() {},
      })
      connections.push(redis)
      if (!redis.isReady) await new Promise<void>((resolve) => redis.onChange(() => resolve()))
      const limits = createSharedLimits({ redis, namespace: `nanoclaw:${store}` })
      joined.push(limits)
      return limits
    }
    first = await join()
    second = await join()
  })
  afterAll(async () => {
    for (const limits of joined) limits.close()
    for (const redis of connections) await redis.close()
    link.close()
    await removeKeysOf(store)
  })

  /** An attempt that fails; how long to wait when it is not admitted. */
  async function fail(limits: Limits, source: string, target: string): Promise<number | null> {
    const attempt = await limits.attempts.begin(source, target)
    if ('retryAfterSeconds' in attempt) return attempt.retryAfterSeconds
    attempt.failed()
    return null
  }

  test('an allowance is used once across instances, and each key and limit has its own', async () => {
    const [here, there] = [first, second].map((limits) =>
      limits.rateLimit('views', { limit: 3, windowMs: 60_000 }),
    )
    if (here === undefined || there === undefined) throw new Error('there are two')
    const taken = await Promise.all(
      [here, there, here, there, here].map((one) => one.acquire('ann')),
    )
    expect(taken.filter((wait) => wait === null)).toHaveLength(3)
    expect(Math.max(...taken.map(Number))).toBeGreaterThan(50)
    expect(await there.acquire('bob', 4)).toBe(60)
    expect(await there.acquire('bob', 3)).toBeNull()
    expect(await here.acquire('bob')).not.toBeNull()
    expect(await here.acquire('bob', 1, 4)).toBeNull()
    const others = second.rateLimit('files', { limit: 3, windowMs: 60_000 })
    expect(await others.acquire('ann')).toBeNull()
  })

  test('failed attempts through one instance count on the other, and a success there clears those of the account', async () => {
    for (let attempt = 0; attempt < 5; attempt += 1)
      for (const limits of [first, second])
        expect(await fail(limits, `10.0.0.${attempt}`, 'ann')).toBeNull()
    // Outcomes are sent without waiting for a reply: Redis may not have the last one yet.
    await expect.poll(() => fail(first, '10.0.0.1', 'ann')).toBeGreaterThan(200)
    const owner = await second.attempts.begin('10.9.9.9', 'ann')
    if ('retryAfterSeconds' in owner) throw new Error('the owner is locked out')
    owner.succeeded()
    await expect.poll(() => fail(first, '10.0.0.1', 'ann')).toBeNull()

    for (let attempt = 0; attempt < 10; attempt += 1)
      await fail(attempt % 2 === 0 ? first : second, '10.1.1.1', `account ${attempt}`)
    await expect.poll(() => fail(first, '10.1.1.1', 'another')).toBeGreaterThan(200)
    const undecided = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        (at % 2 === 0 ? first : second).attempts.begin('10.2.2.2', `at once ${at}`),
      ),
    )
    expect(undecided.filter((one) => 'retryAfterSeconds' in one)).toEqual([
      { retryAfterSeconds: 1 },
      { retryAfterSeconds: 1 },
    ])
  })

  test('slots are taken once across instances until they are released', async () => {
    const [here, there] = [first.slots('streams', 3), second.slots('streams', 3)]
    const taken = await Promise.all([here, there, here, there].map((one) => one.acquire('ann')))
    expect(taken.filter((release) => release === null)).toHaveLength(1)
    expect(await there.acquire('bob')).not.toBeNull()
    expect(await second.slots('uploads', 3).acquire('ann')).not.toBeNull()
    const release = taken.find((one) => one !== null)
    release?.()
    release?.()
    // A release is sent without waiting for a reply.
    await expect.poll(() => there.acquire('ann')).not.toBeNull()
    expect(await here.acquire('ann')).toBeNull()
  })

  test('what one instance holds counts on the other until it is released, and of two simultaneous requests only one gets the rest', async () => {
    const [here, there] = [first.amounts('bytes'), second.amounts('bytes')]
    expect(await here.hold('ann', 60)).toBe(0)
    expect(await there.hold('ann', 3_000_000_000)).toBe(60)
    expect(await here.hold('ann', 70)).toBe(3_000_000_000)
    expect(await there.hold('ann', 0)).toBe(70)
    expect(await there.hold('bob', 1)).toBe(0)
    expect(await second.amounts('other').hold('ann', 1)).toBe(0)
    await here.hold('ann', 0)
    expect(await there.hold('ann', 0)).toBe(0)

    const records = createStorageRepository(await databases.open('sqlite'))
    const quota = (limits: Limits) =>
      createStorageQuota({
        records,
        limit: () => 100,
        measure: async () => 0,
        recovered: async () => {},
        claimed: limits.amounts('claimed storage'),
        storedTexts: limits.amounts('stored texts'),
      })
    const [one, other] = [quota(first), quota(second)]
    const user = newId<UserId>()
    const claimed = await Promise.allSettled([
      one.claim(user, 'upload', 60),
      other.claim(user, 'another', 60),
    ])
    expect(claimed.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [accepted, refused] = claimed[0]?.status === 'fulfilled' ? [one, other] : [other, one]
    expect([await accepted.left(user), await refused.left(user)]).toEqual([40, 40])
    await refused.claim(user, 'small', 40)
    await expect(accepted.claim(user, 'too much', 1)).rejects.toMatchObject({ status: 413 })
    for (const holder of ['upload', 'another']) accepted.release(holder)
    // A release is sent without waiting for a reply.
    await expect.poll(() => refused.left(user)).toBe(60)

    // Both measure the texts. What one of them then stores and releases, the other one has not measured.
    const writer = newId<UserId>()
    const [claimOne, claimOther] = [
      await one.claimTexts(writer, 'import'),
      await other.claimTexts(writer, 'shared copy'),
    ]
    await claimOne(60)
    one.release('import')
    await expect.poll(() => other.left(writer)).toBe(100)
    await expect(claimOther(60)).rejects.toMatchObject({ reason: 'quota_texts_refused' })
    await claimOther(40)
    other.release('shared copy')
    // Who measures afterwards sees it where it is stored, which is nowhere in this test.
    const claimLater = await other.claimTexts(writer, 'later')
    await claimLater(100)
    other.release('later')
  })

  test('while Redis does not respond, each instance counts separately', async () => {
    const slots = first.slots('streams', 2)
    await slots.acquire('eve')
    const limit = first.rateLimit('paused', { limit: 2, windowMs: 60_000 })
    link.freeze()
    expect([await limit.acquire('x'), await limit.acquire('x')]).toEqual([null, null])
    expect(await limit.acquire('x')).toBe(60)
    expect(await slots.acquire('eve')).not.toBeNull()
    expect(await slots.acquire('eve')).toBeNull()
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await fail(second, '10.3.3.3', 'ann')).toBeNull()
    expect(await fail(second, '10.3.3.3', 'ann')).toBe(300)
    expect(await first.amounts('bytes').hold('eve', 5)).toBe(0)
    link.restore()
  })
})
