// What everything that performs one run shares: its row, its state, its usage, and the ways to store and to emit.
import type { RunRow } from '../db/repositories/runs.ts'
import type { ActiveRun } from './active-run.ts'
import type { ChatDependencies } from './dependencies.ts'
import type { Write, WriteGroup } from './group-commit.ts'
import type { RunState } from './state.ts'
import type { RunJournal } from './sub-agents/journal.ts'
import type { Budgets } from './usage/budgets.ts'
import type { RunUsage } from './usage/usage.ts'

export interface RunStarter {
  /**
   * Performs a new run. `write` stores its rows, in a transaction of its own that first checks the limits of the user;
   * nothing begins when that fails. @throws AppError `too_many_runs`, and what `write` throws.
   */
  begin(run: RunRow, write: Write): Promise<void>
}

export type RunDependencies = ChatDependencies & {
  /** Where the run's background tasks begin. */
  runs: RunStarter
  /** What the runs of each user spend together. */
  budgets: Budgets
  /** The server goes away: what it can't store now is left for the next start. */
  isDraining(): boolean
}

export interface PerformedRun {
  active: ActiveRun
  run: RunRow
  /** What of the run's state was read, and is stored again with its next change. */
  state: RunState
  usage: RunUsage
  journal: RunJournal
  writes: WriteGroup
  dependencies: RunDependencies
}
