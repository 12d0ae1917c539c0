// What everything that performs one run shares: its row, its state, its books, and the ways to store and to tell.
import type { RunRow } from '../db/repositories/runs.ts'
import type { ActiveRun } from './active-run.ts'
import type { ChatDependencies } from './dependencies.ts'
import type { WriteGroup } from './group-commit.ts'
import type { RunState } from './state.ts'
import type { RunJournal } from './sub-agents/journal.ts'
import type { RunScopes } from './sub-agents/scope.ts'
import type { Bookkeeping } from './usage.ts'

export type RunDependencies = ChatDependencies & {
  /** What the run lends to the tools that start sub-agents. */
  scopes: RunScopes
  /** Called after each stored change of the run's status but its last. */
  statusChanged(): void
  /** The server goes away: what it can't store now is left for the next start. */
  isDraining(): boolean
}

export interface RunParts {
  active: ActiveRun
  run: RunRow
  /** What of the run's state was read, and is stored again with its next change. */
  state: RunState
  books: Bookkeeping
  journal: RunJournal
  writes: WriteGroup
  dependencies: RunDependencies
}
