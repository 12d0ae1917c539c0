// The moments at which growing texts are stored: the same for all runs, so that they share transactions and disk syncs.

/** A growing text is stored this often, well within the promised second. */
const STORE_MS = 500
/** With many texts at this interval: storing them took a seventh of the CPU time of 150 steady streams. */
const STORE_MANY_MS = 750
const MANY_TEXTS = 100

/** One timer for all texts that wait to be stored. */
export interface StoreMoments {
  /** Calls `callback` at the next moment. Returns the function that cancels it. */
  next(callback: () => void): () => void
}

/** Create one per process. */
export function createStoreMoments(): StoreMoments {
  let waiting = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  /** How many waited for the last moment. */
  let lastCount = 0

  function come(): void {
    timer = undefined
    const due = waiting
    waiting = new Set()
    lastCount = due.size
    for (const callback of due) callback()
  }

  return {
    next(callback) {
      waiting.add(callback)
      timer ??= setTimeout(come, lastCount > MANY_TEXTS ? STORE_MANY_MS : STORE_MS)
      return () => {
        if (!waiting.delete(callback) || waiting.size > 0) return
        clearTimeout(timer)
        timer = undefined
      }
    },
  }
}
