// When all texts of a user are measured, while they come one by one.
import { expect, test } from 'vitest'
import { createStorageRepository } from '../../../server/db/repositories/projects/storage.ts'
import { newId } from '../../../server/lib/ids.ts'
import { NO_OTHERS } from '../../../server/lib/local-limits.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { createStorageQuota } from '../../../server/workspace/storage-quota.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

const MB = 1024 * 1024

describeOnEachDatabase('the texts of a user that come one by one', (open) => {
  const create = async (limit: { bytes: number }) => {
    const records = createStorageRepository(await open())
    let measured = 0
    const quota = createStorageQuota({
      records: {
        ...records,
        texts(userId) {
          measured += 1
          return records.texts(userId)
        },
      },
      limit: () => limit.bytes,
      measure: async () => 0,
      recovered: async () => {},
      claimed: NO_OTHERS,
      storedTexts: NO_OTHERS,
    })
    return { quota, measurements: () => measured }
  }
  const userId = newId<UserId>()

  test('are measured each time they fill a quarter of the room, and more often only after the limit was lowered', async () => {
    const limit = { bytes: 1_000 * MB }
    const { quota, measurements } = await create(limit)
    const take = async (megabytes: number) => {
      for (let at = 0; at < megabytes; at += 1) await quota.countText(userId, MB)
    }
    // What was stored before this process started is not known.
    await take(16)
    expect(measurements()).toBe(1)
    await take(245)
    expect(measurements()).toBe(1)
    await take(5)
    expect(measurements()).toBe(2)
    limit.bytes = 160 * MB
    await take(45)
    expect(measurements()).toBe(3)
  })

  test('count with the answers that were stored', async () => {
    const { quota, measurements } = await create({ bytes: 1_000 * MB })
    await quota.countText(userId, 1)
    expect(measurements()).toBe(0)
    quota.noteText(userId, 16 * MB)
    await quota.countText(userId, 1)
    expect(measurements()).toBe(1)
  })
})
