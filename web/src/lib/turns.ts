// Work that waits for its turn, so that only so much of it runs at once.

/** Runs at most `most` works at once, the others in order as soon as one has ended. One whose signal is aborted before it began does not run. */
export function createTurns(most: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      // The one that ends passes its place on, so that nobody takes it in between.
      if (running < most) running += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        signal.throwIfAborted()
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}
