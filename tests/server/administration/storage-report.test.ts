// The storage of accounts: a report does not wait for what takes long to measure, and measures nothing twice at a time.
import { expect, test } from 'vitest'
import { createStorageReport } from '../../../server/administration/storage-report.ts'
import { ProjectId, UserId } from '../../../server/protocol/ids.ts'

test('a report says what is known while projects are being measured, and a later one says the rest', async () => {
  const userId = UserId.parse('0190a0a0-0000-7000-8000-000000000001')
  const id = ProjectId.parse('0190a0a0-0000-7000-8000-000000000002')
  let calls = 0
  let finish = (): void => {}
  const measured = new Promise<number>((resolve) => {
    finish = () => resolve(700)
  })
  const report = createStorageReport({
    storage: {
      projects: async () => [{ id, userId, measured: true }],
      byUser: async () => [{ userId, username: 'kim', projects: 5, files: 0, documents: 0 }],
    },
    workspace: {
      workspaces: { storage: { left: async () => 0 } },
      checkpoints: {
        historySize() {
          calls += 1
          return measured
        },
      },
    },
    limitOf: () => 1_000,
    waitMs: 1,
  })
  const reports = await Promise.all([report(10, undefined), report(10, undefined)])
  expect(reports.map(({ all }) => all.total)).toEqual([5, 5])
  expect(calls).toBe(1)
  finish()
  await expect.poll(async () => (await report(10, undefined)).all.total).toBe(705)
})
