// Many waiters on one abort signal: each is notified once, and no listener leaks.
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { deadline, linkedController, onAbort, untilAborted } from '../../../server/lib/abort.ts'
import { garbageCollector } from '../../support/collect-garbage.ts'

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

test('a waiter added after the abort is notified at once', () => {
  let called = 0
  onAbort(AbortSignal.abort(), () => called++)()
  expect(called).toBe(1)
})

test('a deadline ends its waiters even if garbage is collected meanwhile', async () => {
  const collect = garbageCollector()
  const collecting = setInterval(collect, 20)
  const ended = untilAborted(new Promise(() => {}), deadline(200, new AbortController().signal))
  await expect(ended).rejects.toThrow('Time limit reached')
  clearInterval(collecting)
})

test('a deadline ends with the first of its signals, and leaves no listener on the others', () => {
  const [first, second] = [new AbortController(), new AbortController()]
  const signal = deadline(60_000, first.signal, second.signal)
  const reason = new Error('enough')
  second.abort(reason)
  expect(signal.reason).toBe(reason)
  expect(getEventListeners(first.signal, 'abort')).toHaveLength(0)
  expect(deadline(60_000, AbortSignal.abort(reason), first.signal).reason).toBe(reason)
  expect(getEventListeners(first.signal, 'abort')).toHaveLength(0)
})
