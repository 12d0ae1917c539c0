// How instances share the runs of one store. A single process has none of this.

import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { RunLog } from '../log/log.ts'

/** Created once per instance. Nothing here waits for more than two seconds. */
export interface RunSharing {
  /** Whether an instance that has this many runs at work offers a new one to all; otherwise it performs what it receives. */
  isOffering(atWork: number): boolean
  /** Offers a stored run to every instance. False when the queue does not accept it: perform it here. */
  dispatch(id: RunId): Promise<boolean>
  /** Tells an instance to look at what others have stored for its runs. It looks anyway, a little later. */
  nudge(instance: string): void
  /** Sends what happens in the log of a run that begins here to the other instances. Returns what ends it. */
  publish(run: RunRow, runLog: RunLog, options: { isNew: boolean }): () => void
  /** The log of a run that another instance performs, or that none performs at the moment. */
  follow(run: RunRow): Promise<RunLog>
}

/** What an instance does when another one asks, or when nobody else can. */
export interface SharedRuns {
  /** Performs a stored run if no other instance does. */
  take(id: RunId): Promise<void>
  /** Performs the runs of instances that are gone. */
  takeOver(): Promise<void>
  /** Acts on what others have stored for the runs that this instance performs: stops, decisions, answers. */
  lookAtChanges(): Promise<void>
  /** The number of listeners of a run on other instances. */
  setRemoteListeners(id: RunId, count: number): void
}
