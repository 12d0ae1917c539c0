// How long the main thread works without a pause: its CPU time between two turns of the event loop. Linux only.
import { readFileSync } from 'node:fs'

/** CPU time of the main thread in milliseconds. Unlike the clock, it stands still while other processes run. */
const cpuMs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

/** Runs `work` and returns the longest CPU time of the main thread between two turns of the event loop meanwhile. */
export async function longestTurn(work: () => Promise<void>): Promise<number> {
  let longest = 0
  let isOver = false
  let last = cpuMs()
  const look = (): void => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  await new Promise((resolve) => setImmediate(resolve))
  isOver = true
  return longest
}
