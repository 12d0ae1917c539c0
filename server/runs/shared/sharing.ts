// The interface through which instances share the runs of one store. A single process does not use it.

import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { RunLog } from '../log/log.ts'

/** Create one per instance. No method waits for more than two seconds. */
export interface RunSharing {
  /** Whether an instance that performs this many runs offers a new run to all instances instead of performing it. */
  isOffering(atWork: number): boolean
  /** Whether another instance is there, so that this one can accept runs that it will not perform any more. */
  hasOthers(): Promise<boolean>
  /** Offers a stored run to every instance. Resolves to false if the queue does not accept it: then perform it here. */
  dispatch(id: RunId): Promise<boolean>
  /** Asks an instance to read what others have stored for its runs. Without it, the instance reads a little later. */
  nudge(instance: string): void
  /** Sends what happens in the log of a run to the other instances. Returns a function that ends this. */
  publish(run: RunRow, runLog: RunLog, options: { isNew: boolean }): () => void
  /** The log of a run that another instance performs, or that no instance performs at the moment. */
  follow(run: RunRow): Promise<RunLog>
}

/** What an instance does on request of another, or when no other can. */
export interface SharedRuns {
  /** Performs a stored run unless another instance does. */
  take(id: RunId): Promise<void>
  /** Performs the runs of instances that have died. */
  takeOver(): Promise<void>
  /** Acts on what others have stored for the runs that this instance performs: stops, decisions, answers. */
  lookAtChanges(): Promise<void>
  /** Sets the number of listeners that follow a run through other instances, and of pages among them. */
  setRemoteListeners(id: RunId, count: number, pages: number): void
}
