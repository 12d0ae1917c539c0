// Stops synchronous work that what comes from outside could make endless, such as a regular expression.
import { readFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'

/** Where the work waits until the script calls it. Nothing else is in there. */
const place = createContext({ work: undefined })
const call = new Script('work()')

/** How often work is begun again that the machine, busy with others, has not let run for its time; each time it may take longer. */
const MAX_TRIES = 6
const MICROSECONDS = 1_000
const NANOSECONDS = 1_000_000
/** The share of its time after which work that has not ended is given up. The clock and the processor's count differ a little. */
const ENOUGH = 0.9

/**
 * Runs the work in this thread, for at most about so many milliseconds of the processor. Loops, calls and regular expressions are stopped; what they
 * have changed by then stays, so that the work may only touch what is dropped when it fails, and may begin again. Not to be
 * nested.
 * @throws what the work throws, and an `Error` with the code `ERR_SCRIPT_EXECUTION_TIMEOUT` if it takes longer.
 */
export function within<T>(milliseconds: number, work: () => T): T {
  for (let tries = 1; ; tries += 1) {
    const before = cpuMilliseconds()
    try {
      return runOnce(milliseconds * tries, work)
    } catch (error) {
      const hasRun = cpuMilliseconds() - before > milliseconds * ENOUGH
      if (hasRun || tries === MAX_TRIES || !isTimeout(error)) throw error
    }
  }
}

/** What this thread has had of the processor; where the system does not say it, what the whole process has had. */
function cpuMilliseconds(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / NANOSECONDS
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / MICROSECONDS
  }
}

function runOnce<T>(milliseconds: number, work: () => T): T {
  let result: { value: T } | undefined
  place.work = () => {
    result = { value: work() }
  }
  try {
    call.runInContext(place, { timeout: milliseconds })
  } finally {
    place.work = undefined
  }
  if (result === undefined) throw new Error('The work has not ended.')
  return result.value
}

/** Whether the error says that work took too long. In a worker thread, it is no `Error` of this realm. */
export const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
