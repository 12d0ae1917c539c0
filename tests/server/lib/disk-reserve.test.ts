// The space that is kept back in the data folder holds for all processes that use the folder.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDiskReserve } from '../../../server/lib/disk-reserve.ts'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-reserve-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('once one of several processes uses the reserve of a full disk, all of them refuse writes, also one that starts then, until there is space again', async () => {
  const AMPLE = 1024 ** 3
  let free = AMPLE
  const said: string[] = []
  const log = {
    info: (_details: object, message: string) => said.push(message),
    error: (_details: object, message: string) => said.push(message),
  }
  const open = () => openDiskReserve(folder, log, async () => free)
  const reserve = join(folder, '.reserve')
  const [one, two] = [await open(), await open()]
  one.keep()
  await expect.poll(() => existsSync(reserve) && statSync(reserve).size).toBe(8 * 1024 * 1024)
  expect(await two.isUsed()).toBe(false)

  free = 0
  // Two deletions at the same moment, in two processes.
  await Promise.all([one.makeRoom(), two.makeRoom()])
  expect([await one.isUsed(), await two.isUsed()]).toEqual([true, true])
  expect(existsSync(reserve)).toBe(false)
  const bytes = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
  expect(Math.max(...bytes)).toBe(0)
  // The reserve gives it some space, which is for deletions.
  free = 8 * 1024 * 1024
  const late = await open()
  expect(await late.isUsed()).toBe(true)

  free = AMPLE
  late.keep()
  await expect.poll(() => late.isUsed()).toBe(false)
  expect([await one.isUsed(), await two.isUsed()]).toEqual([false, false])
  expect(statSync(reserve).size).toBe(8 * 1024 * 1024)
  expect(readdirSync(folder)).toEqual(['.reserve'])
  await expect.poll(() => said.at(-1)).toContain('There is space on the disk again')
  for (const each of [one, two, late]) each.close()
})
