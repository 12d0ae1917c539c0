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

const SAMPLE = JSON.stringify(
  Array.from({ length: 4_000 }, (_, at) => ({
    id: `id-${at}`,
    at,
    text: `text ${at}`,
    tags: ['a'],
  })),
)
/** Rounds of the reference, so that it takes about as long as the longest turn that is allowed: the kernel's clock ticks every few milliseconds. */
const ROUNDS = 15
/** What the reference takes on a machine of ordinary speed (a core of a server of 2023) that has nothing else to do. */
const REFERENCE_MS = 30

/**
 * How many times slower than an ordinary machine this one is right now, at least 1. Measured by a reference: reading and
 * writing JSON, as requests do. CPU time depends on the processor, and on others who share its caches and its clock.
 */
export function slowness(): number {
  const before = cpuMs()
  for (let round = 0; round < ROUNDS; round += 1) JSON.stringify(JSON.parse(SAMPLE))
  return Math.max(1, (cpuMs() - before) / REFERENCE_MS)
}
