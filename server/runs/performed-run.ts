// The state and dependencies shared by all code that performs one run.
import type { Writer } from '../db/database.ts'
import type { HistoryMessage } from '../db/repositories/conversations/branch-history.ts'
import type { RunSetting } from '../db/repositories/runs/run-setting.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { ActiveRun } from './active-run.ts'
import type { ChatDependencies } from './dependencies.ts'
import { RETRY_DELAYS_MS, retryWhileUnavailable, type WriteGroup } from './group-commit.ts'
import type { AttemptRecord } from './inspection/run-records.ts'
import type { RunState } from './state.ts'
import type { StoreMoments } from './store-moments.ts'
import type { RunJournal } from './sub-agents/journal.ts'
import type { RunTimeline } from './timeline.ts'
import type { Budgets } from './usage/budgets.ts'
import type { RunSpending } from './usage/spending.ts'
import type { RunUsage } from './usage/usage.ts'

/** What the transaction that stored a new run knows, so that the run need not read it again. */
export interface KnownStart {
  setting: RunSetting
  /** The branch to answer; undefined if it has to be read. */
  branch: HistoryMessage[] | undefined
}

/** Starts new runs. */
export interface RunStarter {
  /**
   * Stores a new run and starts to perform it. The limits of the user are checked, the run is inserted, and then `write`
   * inserts its messages, in one transaction; if it fails, nothing starts. The run uses what `write` returns instead of
   * reading it again.
   * @throws AppError `too_many_runs`, the database's unique violation when the conversation has an active run, and what
   * `write` throws.
   */
  begin(run: RunRow, write: (tx: Writer) => Promise<KnownStart | undefined>): Promise<void>
}

/** What performing needs beyond `ChatDependencies`. */
export type RunDependencies = ChatDependencies & {
  /** Starts the run's background tasks. */
  runs: RunStarter
  /** Usage of all running runs of each user. */
  budgets: Budgets
  /** When the texts of all runs are stored. */
  storeMoments: StoreMoments
  /** The server is shutting down: whatever cannot be stored now is left to the next start. */
  isDraining(): boolean
}

/** Passed to all code that performs the run. */
export interface PerformedRun {
  active: ActiveRun
  run: RunRow
  /** Set only for a run that has just been stored. */
  known: KnownStart | undefined
  /** Read at the start; stored with the next change of the run. */
  state: RunState
  /** Whether the store has what this run added to the prompt. */
  isPromptStored: boolean
  usage: RunUsage
  timeline: RunTimeline
  /** The record for the inspector; undefined if nothing is recorded. */
  record: AttemptRecord | undefined
  journal: RunJournal
  spending: RunSpending
  writes: WriteGroup
  dependencies: RunDependencies
}

/** Retries a read while the store is unavailable, until the run is stopped or the server shuts down. */
export const retryRead = <T>(
  { active, dependencies }: PerformedRun,
  read: () => Promise<T>,
): Promise<T> =>
  retryWhileUnavailable(
    read,
    RETRY_DELAYS_MS,
    () => !active.signal.aborted && !dependencies.isDraining(),
  )
