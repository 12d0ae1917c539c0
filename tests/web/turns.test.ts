// Work that waits for its turn.
import { expect, test } from 'vitest'
import { createTurns } from '../../web/src/lib/turns.ts'

const works = (count: number) =>
  Array.from({ length: count }, () => {
    let resolve = (_value: number): void => undefined
    let reject = (_error: Error): void => undefined
    const promise = new Promise<number>((onResolve, onReject) => {
      resolve = onResolve
      reject = onReject
    })
    return { promise, resolve, reject }
  })

test('so many works run at once, the others in order once one has ended, also with a failure', async () => {
  const turns = createTurns(2)
  const held = works(4)
  const begun: number[] = []
  const results = held.map(({ promise }, at) =>
    turns
      .run(() => {
        begun.push(at)
        return promise
      }, new AbortController().signal)
      .catch(() => 'failed'),
  )
  await Promise.resolve()
  expect(begun).toEqual([0, 1])
  held[1]?.reject(new Error('refused'))
  expect(await results[1]).toBe('failed')
  await expect.poll(() => begun).toEqual([0, 1, 2])
  held[0]?.resolve(10)
  await expect.poll(() => begun).toEqual([0, 1, 2, 3])
  held[2]?.resolve(12)
  held[3]?.resolve(13)
  expect(await Promise.all(results)).toEqual([10, 'failed', 12, 13])
})

test('a work that was cancelled while it waited does not begin, and the next one does', async () => {
  const turns = createTurns(1)
  const [first, second, third] = works(3)
  const abort = new AbortController()
  let hasBegun = false
  const { signal } = new AbortController()
  const results = [
    turns.run(() => first?.promise ?? Promise.reject(), signal),
    turns
      .run(() => {
        hasBegun = true
        return second?.promise ?? Promise.reject()
      }, abort.signal)
      .catch(() => -1),
    turns.run(() => third?.promise ?? Promise.reject(), signal),
  ]
  abort.abort()
  first?.resolve(1)
  third?.resolve(3)
  expect(await Promise.all(results)).toEqual([1, -1, 3])
  expect(hasBegun).toBe(false)
})
