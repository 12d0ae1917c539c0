// Batches the events of a run, so that the page renders an answer as often as the device can without becoming slow.
import type { RunEvent } from '../../../../../server/protocol/runs/run-event.ts'

/** The longest pause between two batches, however long rendering takes. */
const MAX_PAUSE_MS = 250
const HIDDEN_INTERVAL_MS = 100
/** A limit for the frame, because a page that becomes hidden gets none. */
const MAX_FRAME_MS = 1_000

/** Runs `action` in a separate task once the next frame has been painted. */
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
 * Delivers events at most once per frame, and pauses as long as rendering the last batch took, so that at least half of
 * the time is free for user input. Delivers between two frames and not inside one: rendering, and layout with painting,
 * then are two tasks of half the length.
 */
export function createBatcher(deliver: (events: readonly RunEvent[]) => void) {
  let collected: RunEvent[] = []
  let isScheduled = false
  /** The end of the pause after the last batch, on the page's clock. */
  let pausesUntil = 0
  const flush = (): void => {
    const events = collected
    collected = []
    if (events.length > 0) deliver(events)
  }
  const schedule = (): void => {
    isScheduled = true
    const pauseMs = Math.max(0, pausesUntil - performance.now())
    setTimeout(deliverBatch, document.visibilityState === 'hidden' ? HIDDEN_INTERVAL_MS : pauseMs)
  }
  const deliverBatch = (): void => {
    const startedAt = performance.now()
    flush()
    const onRendered = (): void => {
      isScheduled = false
      const now = performance.now()
      pausesUntil = now + Math.min(now - startedAt, MAX_PAUSE_MS)
      if (collected.length > 0) schedule()
    }
    if (document.visibilityState === 'hidden') onRendered()
    else afterFrame(onRendered)
  }
  return {
    /** Delivers the collected events at once. */
    flush,
    add(event: RunEvent): void {
      collected.push(event)
      if (!isScheduled) schedule()
    },
  }
}
