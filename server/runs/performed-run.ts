// What all code that performs one run shares: its frame, and the owners of what changes.
import type { Writer } from '../db/database.ts'
import type { HistoryMessage } from '../db/repositories/conversations/branch-history.ts'
import type { RunSetting } from '../db/repositories/conversations/turns.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { ActiveRun } from './active-run.ts'
import type { ChatDependencies } from './dependencies.ts'
import type { StoreMoments, WriteGroup } from './group-commit.ts'
import type { AttemptRecord } from './inspection/run-records.ts'
import type { RunOptions, RunStateOwner } from './state.ts'
import type { RunJournal } from './sub-agents/journal.ts'
import type { RunTimeline } from './timeline.ts'
import type { Budgets } from './usage/budgets.ts'
import type { RunSpending, RunUsage } from './usage/usage.ts'

/**
 * What the transaction that stored a new run knows, so that the run need not read it again: on PostgreSQL a round trip before the
 * first token, and two of the statements that a send may run (`npm run bench stream-sends`).
 */
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

/** What stays the same while an attempt performs a run. */
export interface RunFrame {
  readonly active: ActiveRun
  readonly run: RunRow
  /** The run's options as stored. */
  readonly options: RunOptions
  /** Set only for a run that has just been stored. */
  readonly known: KnownStart | undefined
  readonly writes: WriteGroup
  readonly dependencies: RunDependencies
  /** Retries a read while the store is unavailable, until the run is stopped or the server shuts down. */
  retry<T>(read: () => Promise<T>): Promise<T>
}

/** Passed to all code that performs the run: its frame, and what changes, each with its one owner. */
export interface PerformedRun extends RunFrame {
  readonly runState: RunStateOwner
  readonly usage: RunUsage
  readonly timeline: RunTimeline
  /** The record for the inspector; undefined if nothing is recorded. */
  readonly record: AttemptRecord | undefined
  readonly journal: RunJournal
  readonly spending: RunSpending
}
