// What everything that performs one run shares: its row, its state, its books, and the ways to store and to tell.
import type { RunRow } from '../db/repositories/runs.ts'
import type { ActiveRun } from './active-runs.ts'
import type { Bookkeeping } from './bookkeeping.ts'
import type { ChatDependencies } from './chat-dependencies.ts'
import type { RunScopes } from './run-scopes.ts'
import type { RunState } from './run-state.ts'
import type { RunJournal } from './sub-agent-journal.ts'
import type { WriteGroup } from './write-group.ts'

/** `scopes`: what the run lends to the tools that start sub-agents. */
export type RunDependencies = ChatDependencies & { scopes: RunScopes }

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
