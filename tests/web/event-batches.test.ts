// How often the page draws an answer that streams in: it pauses as long as drawing takes.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RunEvent } from '../../server/protocol/runs/run-event.ts'
import { createBatcher } from '../../web/src/features/chat/runs/event-batches.ts'

const ANY_EVENT: RunEvent = {
  event: 'step_delta',
  id: 'step-0',
  index: 0,
  type: 'text',
  delta: 'a',
}

/** How long the page takes until the next frame is on the screen. */
let frameMs = 0

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('document', { visibilityState: 'visible' })
  vi.stubGlobal('requestAnimationFrame', (action: () => void) => setTimeout(action, frameMs))
  vi.stubGlobal(
    'MessageChannel',
    class {
      readonly port1 = { onmessage: () => {}, close: () => {} }
      readonly port2 = { postMessage: () => setTimeout(() => this.port1.onmessage()) }
    },
  )
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

test('the page pauses as long as drawing took, also if nothing arrives until it is done', () => {
  frameMs = 30
  const began = performance.now()
  const passed = () => performance.now() - began
  const drawnAt: number[] = []
  // Rounded down to tens: timers need a millisecond.
  const { add } = createBatcher(() => drawnAt.push(Math.floor(passed() / 10) * 10))
  add(ANY_EVENT)
  vi.advanceTimersByTime(35)
  add(ANY_EVENT)
  vi.advanceTimersByTime(1_000)
  expect(drawnAt).toEqual([0, 60])
})
