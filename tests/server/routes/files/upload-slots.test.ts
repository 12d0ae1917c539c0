// Limits on concurrent uploads.
import { expect, test } from 'vitest'
import { createUploadSlots } from '../../../../server/http/upload-slots.ts'
import { newId } from '../../../../server/lib/ids.ts'
import { createLocalLimits } from '../../../../server/lib/local-limits.ts'
import type { UserId } from '../../../../server/protocol/ids.ts'

test('uploads are limited per user and for all users together', async () => {
  const slots = createUploadSlots(createLocalLimits(), { perUser: 2, inAll: 3 })
  const [one, other] = [newId<UserId>(), newId<UserId>()]
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const burst = Array.from({ length: 20 }, () => slots.run(one, () => ended))
  const otherBurst = Array.from({ length: 20 }, () => slots.run(other, () => ended))
  end()
  const outcomes = await Promise.allSettled([...burst, ...otherBurst])
  const codes = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? 'served' : outcome.reason.code,
  )
  expect(codes.slice(0, 20)).toEqual(['served', 'served', ...Array(18).fill('too_many_requests')])
  expect(codes.slice(20)).toEqual(['served', 'server_busy', ...Array(18).fill('too_many_requests')])
  expect(await slots.run(one, async () => 'again')).toBe('again')
})

test('of bodies that are kept in memory, a user has two at a time, and another one does not wait for them', async () => {
  const slots = createUploadSlots(createLocalLimits())
  const [one, other] = [newId<UserId>(), newId<UserId>()]
  const begun: string[] = []
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const keep = (userId: UserId, name: string): Promise<void> =>
    slots.runInMemory(userId, async () => {
      begun.push(name)
      await ended
    })
  const all = ['a', 'b', 'c'].map((name) => keep(one, name))
  all.push(keep(other, 'd'))
  await expect.poll(() => begun).toEqual(['a', 'b', 'd'])
  end()
  await Promise.all(all)
  expect(begun).toEqual(['a', 'b', 'd', 'c'])
})
