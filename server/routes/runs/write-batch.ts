// Runs the writes of all streams together, at the end of a turn of the event loop.

/** Runs the function once this turn of the event loop has read its sockets. */
export type AfterReads = (write: () => void) => void

/**
 * Collects functions and runs them one after the other when the sockets that are ready have been read. A write wakes the
 * process at the other end; without this, the reads of one stream and the writes of another take turns, and the processes
 * on both sides are interrupted more often: 56 instead of 52 µs of CPU time for each token of 300 streams.
 */
export function createWriteBatch(): AfterReads {
  let waiting: (() => void)[] = []
  const run = (): void => {
    const writes = waiting
    waiting = []
    for (const write of writes) write()
  }
  return (write) => {
    if (waiting.push(write) === 1) setImmediate(run)
  }
}
