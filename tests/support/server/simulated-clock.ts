// A clock that a test moves: work that a server does again and again is done in its steps.
import type { ProcessClock } from '../../../server/lib/clocks.ts'

const STEP_MS = 1_000

export interface SimulatedClock extends ProcessClock {
  /** Moves on second by second, as time passes, to this moment. */
  passTo(moment: string): Promise<void>
  /** Sets the clock, as a person or a machine that slept does: nothing happens in between. */
  set(moment: string): Promise<void>
}

export function simulatedClock(start: string): SimulatedClock {
  let time = Date.parse(start)
  const works = new Set<() => Promise<void>>()
  const timers = new Map<() => Promise<void>, number>()
  const tick = async (): Promise<void> => {
    for (const [work, at] of timers)
      if (at <= time) {
        timers.delete(work)
        await work()
      }
    for (const work of works) await work()
  }
  return {
    now: () => new Date(time),
    every(_ms, work) {
      works.add(work)
      return () => works.delete(work)
    },
    after(ms, work) {
      timers.set(work, time + ms)
      return () => timers.delete(work)
    },
    async passTo(moment) {
      for (const end = Date.parse(moment); time < end; ) {
        time = Math.min(end, time + STEP_MS)
        await tick()
      }
    },
    async set(moment) {
      time = Date.parse(moment)
      await tick()
    },
  }
}
