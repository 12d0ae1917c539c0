// The measured case: some streams for each instance, as fast as they can, with everything on one machine.
import type { Figures } from './figures.ts'
import { createMachine, type Thread } from './machine.ts'

const SECOND_US = 1_000_000
const WARM_UP_S = 1
const MEASURED_S = 10
/** Tokens that pass a process at once: as many as fit into one socket read. */
const TOKENS_AT_ONCE = 64

/**
 * Tokens per second of all instances together.
 * @param busyThreads threads of other programs on the same cores.
 */
export function simulateStreams(
  { measured, tokenUs }: Figures,
  instances: number,
  busyThreads: number,
): number {
  const machine = createMachine(measured.cores)
  for (let left = busyThreads; left > 0; left -= 1) machine.occupy(Math.min(1, left))
  const [upstream, client, postgres, redis] = [
    machine.thread(),
    machine.thread(),
    machine.thread(),
    machine.thread(),
  ]
  let tokens = 0
  const isShared = instances > 1
  for (let at = 0; at < instances; at += 1) {
    const instance = machine.thread()
    for (let stream = 0; stream < measured.streamsPerInstance; stream += 1) {
      const through: [Thread, number][] = [
        [upstream, tokenUs.upstream],
        [instance, isShared ? tokenUs.clusteredInstance : tokenUs.instance],
        [client, tokenUs.client],
      ]
      // The provider keeps writing while earlier tokens are in transit: a socket holds a few reads.
      for (let window = 0; window < 3; window += 1) {
        const pass = (place: number): void => {
          const step = through[place]
          if (step === undefined) {
            if (machine.now > WARM_UP_S * SECOND_US) tokens += TOKENS_AT_ONCE
            pass(0)
            return
          }
          const [thread, us] = step
          thread.add(us * TOKENS_AT_ONCE, () => {
            // Storing and publishing happen in parallel to the stream.
            if (thread === instance) {
              postgres.add(tokenUs.postgres * TOKENS_AT_ONCE, () => {})
              if (isShared) redis.add(tokenUs.redis * TOKENS_AT_ONCE, () => {})
            }
            pass(place + 1)
          })
        }
        machine.after(stream * 100 + window * 10, () => pass(0))
      }
    }
  }
  machine.run((WARM_UP_S + MEASURED_S) * SECOND_US)
  return tokens / MEASURED_S
}
