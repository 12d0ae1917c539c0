// Parts of the page that are loaded on demand: retries while there is no connection, up to a limit.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadPart, PartNotLoaded } from '../../web/src/lib/browser/load-part.ts'

const pauses: number[] = []
const pause = async (ms: number): Promise<void> => {
  pauses.push(ms)
}
/** Fails `failures` times before it loads. */
const loadAfter = (failures: number) => {
  let calls = 0
  return vi.fn(async () => {
    calls += 1
    if (calls <= failures) throw new TypeError('Failed to fetch dynamically imported module')
    return 'the part'
  })
}

beforeEach(() => {
  pauses.length = 0
})
afterEach(() => vi.unstubAllGlobals())

test('a part whose first attempt fails is loaded by a later attempt', async () => {
  vi.stubGlobal('navigator', { onLine: true })
  expect(await loadPart(loadAfter(1), pause)).toBe('the part')
  expect(pauses).toHaveLength(1)
})

test('with a connection, loading gives up soon, because a new build may have replaced the file', async () => {
  vi.stubGlobal('navigator', { onLine: true })
  const load = loadAfter(Number.POSITIVE_INFINITY)
  await expect(loadPart(load, pause)).rejects.toThrow(PartNotLoaded)
  expect(load).toHaveBeenCalledTimes(3)
})

test('without a connection, loading retries with growing pauses, up to a limit', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  expect(await loadPart(loadAfter(5), pause)).toBe('the part')
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other))
  expect(new Set(pauses).size).toBe(5)
  const load = loadAfter(Number.POSITIVE_INFINITY)
  await expect(loadPart(load, pause)).rejects.toThrow(PartNotLoaded)
  expect(load).toHaveBeenCalledTimes(6)
})
