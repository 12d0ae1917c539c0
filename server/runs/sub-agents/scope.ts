// The runs of this process that tools can start sub-agents in.
import type { RunScope } from '../../agent/run-scope.ts'
import type { RunId } from '../../protocol/ids.ts'

export interface RunScopes {
  /** Returns the call that ends it. */
  enter(runId: RunId, scope: RunScope): () => void
  /** undefined when the run is not performed here. */
  get(runId: RunId): RunScope | undefined
}

export function createRunScopes(): RunScopes {
  const scopes = new Map<RunId, RunScope>()
  return {
    enter(runId, scope) {
      scopes.set(runId, scope)
      return () => {
        if (scopes.get(runId) === scope) scopes.delete(runId)
      }
    },
    get: (runId) => scopes.get(runId),
  }
}
