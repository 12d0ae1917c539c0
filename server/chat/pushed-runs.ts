// The runs whose end browsers are notified of.
import type { Store } from '../db/store.ts'
import type { PushOptions } from '../messaging/push.ts'
import { readRunOptions, readRunState } from '../runs/state.ts'

/** Finds the run if its user should be notified of its end. */
export const findPushedRun =
  ({ runs }: { runs: Pick<Store['runs'], 'find'> }): PushOptions['findRun'] =>
  async (id) => {
    const run = await runs.find(id)
    if (run === undefined) return null
    // A run that refuses approvals belongs to a program, which reads the answer itself.
    const { refusesApprovals, origin } = readRunOptions(run.options)
    // A schedule says itself whom its end is told to.
    const isScheduled = origin?.type === 'schedule' || origin?.type === 'hook'
    if (refusesApprovals === true || isScheduled) return null
    return { ...run, receipt: readRunState(run.state).receipt }
  }
