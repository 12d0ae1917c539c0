// A machine with some cores, on which threads take turns as under a fair scheduler, in simulated time.

/** A thread with a queue of work; it runs on one core at a time. */
export interface Thread {
  /** Adds work that takes this many microseconds of CPU; `done` is called in simulated time. */
  add(us: number, done: () => void): void
  /** Microseconds of CPU that it has used. */
  readonly used: number
}

export interface Machine {
  thread(): Thread
  /** A thread of another program, which always wants a core for this part of the time. */
  occupy(share: number): void
  /** Calls back after simulated microseconds. */
  after(us: number, then: () => void): void
  readonly now: number
  /** Runs until the moment, in microseconds, or until nothing is left to do. */
  run(until: number): void
}

/** How long a thread runs before the next one's turn. */
const SLICE_US = 3_000

interface Event {
  at: number
  order: number
  then(): void
}

export function createMachine(cores: number): Machine {
  let now = 0
  let order = 0
  let free = cores
  const events: Event[] = []
  const ready: (() => void)[] = []

  // A binary heap: the earliest event first, and the oldest first among equals.
  const isBefore = (a: Event, b: Event): boolean =>
    a.at < b.at || (a.at === b.at && a.order < b.order)
  function push(event: Event): void {
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = events[parent]
      if (above === undefined || !isBefore(event, above)) break
      events[at] = above
      at = parent
    }
    events[at] = event
  }
  function pop(): Event | undefined {
    const first = events[0]
    const last = events.pop()
    if (last === undefined || events.length === 0) return first
    let at = 0
    for (;;) {
      const [left, right] = [events[2 * at + 1], events[2 * at + 2]]
      if (left === undefined) break
      const isRight = right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (!isBefore(child, last)) break
      events[at] = child
      at = 2 * at + (isRight ? 2 : 1)
    }
    events[at] = last
    return first
  }
  const after = (us: number, then: () => void): void => {
    order += 1
    push({ at: now + us, order, then })
  }
  function dispatch(): void {
    while (free > 0) {
      const next = ready.shift()
      if (next === undefined) return
      free -= 1
      next()
    }
  }

  function thread(): Thread {
    const queue: { us: number; done(): void }[] = []
    let isQueued = false
    let used = 0
    const want = (): void => {
      if (isQueued || queue.length === 0) return
      isQueued = true
      ready.push(takeTurn)
    }
    function takeTurn(): void {
      const work = queue[0]
      const slice = Math.min(SLICE_US, work?.us ?? 0)
      after(slice, () => {
        used += slice
        free += 1
        isQueued = false
        if (work !== undefined) {
          work.us -= slice
          if (work.us <= 1e-6) {
            queue.shift()
            work.done()
          }
        }
        want()
        dispatch()
      })
    }
    return {
      add(us, done) {
        queue.push({ us, done })
        want()
        dispatch()
      },
      get used() {
        return used
      },
    }
  }

  return {
    thread,
    occupy(share) {
      const other = thread()
      const again = (): void => {
        if (share >= 1) other.add(SLICE_US, again)
        else other.add(SLICE_US * share, () => after(SLICE_US * (1 - share), again))
      }
      again()
    },
    after,
    get now() {
      return now
    },
    run(until) {
      for (;;) {
        if ((events[0]?.at ?? Number.POSITIVE_INFINITY) > until) return
        const event = pop()
        if (event === undefined) return
        now = event.at
        event.then()
      }
    },
  }
}
