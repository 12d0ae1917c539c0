// Gathers the events of a run, so that the page draws an answer as often as the device can without becoming slow.
import type { RunEvent } from '../../../../../server/protocol/runs/run-event.ts'

/** However long drawing takes, the answer moves this often. */
const MAX_REST_MS = 250
const HIDDEN_EVERY_MS = 100
/** A page that is hidden before the frame has none. */
const MAX_FRAME_MS = 1_000

/** Runs `action` in a task of its own once the next frame has been painted. */
function afterFrame(action: () => void): void {
  let isDone = false
  const finish = (): void => {
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    action()
  }
  const timer = setTimeout(finish, MAX_FRAME_MS)
  requestAnimationFrame(() => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => {
      channel.port1.close()
      finish()
    }
    channel.port2.postMessage(null)
  })
}

/**
 * Passes events on at most once per frame, and rests as long as drawing the last ones took, so that at least half of the
 * time is free for the reader. The events are passed on between two frames and not in one: then rendering, and layout with
 * painting, are two tasks, each half as long.
 */
export function createBatcher(deliver: (events: readonly RunEvent[]) => void) {
  let gathered: RunEvent[] = []
  let isScheduled = false
  const flush = (): void => {
    const events = gathered
    gathered = []
    if (events.length > 0) deliver(events)
  }
  const schedule = (rest: number): void => {
    isScheduled = true
    setTimeout(draw, document.visibilityState === 'hidden' ? HIDDEN_EVERY_MS : rest)
  }
  const draw = (): void => {
    const began = performance.now()
    flush()
    const onDrawn = (): void => {
      isScheduled = false
      if (gathered.length > 0) schedule(Math.min(performance.now() - began, MAX_REST_MS))
    }
    if (document.visibilityState === 'hidden') onDrawn()
    else afterFrame(onDrawn)
  }
  return {
    /** Passes on at once what has been gathered. */
    flush,
    add(event: RunEvent): void {
      gathered.push(event)
      if (!isScheduled) schedule(0)
    },
  }
}
