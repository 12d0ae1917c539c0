// Many waiters on one abort signal: each is notified once, and no listener leaks.
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { linkedController, onAbort, untilAborted } from '../../../server/lib/abort.ts'

test('hundreds of waiters share one listener on a signal, and each is notified once', async () => {
  const controller = new AbortController()
  const told: number[] = []
  const releases = Array.from({ length: 300 }, (_, number) =>
    onAbort(controller.signal, () => told.push(number)),
  )
  const linked = linkedController(controller.signal)
  const waiting = untilAborted(new Promise(() => {}), controller.signal)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
  releases[1]?.()
  const reason = new Error('enough')
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  expect(linked.controller.signal.reason).toBe(reason)
  expect(told).toHaveLength(299)
  expect(told).not.toContain(1)
})

test('a waiter that comes after the abort is notified at once', () => {
  let told = 0
  onAbort(AbortSignal.abort(), () => told++)()
  expect(told).toBe(1)
})
