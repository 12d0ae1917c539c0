// Many waiters on one abort signal: each is notified once, and no listener leaks.
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { linkedController, onAbort, untilAborted } from '../../../server/lib/abort.ts'

test('hundreds of waiters share one listener on a signal, and each is notified once', async () => {
  const controller = new AbortController()
  const called: number[] = []
  const releases = Array.from({ length: 300 }, (_, number) =>
    onAbort(controller.signal, () => called.push(number)),
  )
  const linked = linkedController(controller.signal)
  const waiting = untilAborted(new Promise(() => {}), controller.signal)
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
  releases[1]?.()
  const reason = new Error('enough')
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  expect(linked.controller.signal.reason).toBe(reason)
  expect(called).toHaveLength(299)
  expect(called).not.toContain(1)
})

test('a waiter that comes after the abort is notified at once', () => {
  let called = 0
  onAbort(AbortSignal.abort(), () => called++)()
  expect(called).toBe(1)
})
