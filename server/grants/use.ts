// A call that a grant covers begins: the use is counted in the transaction that stores the beginning.
import type { Writer } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { RunId, UserId } from '../protocol/ids.ts'

/** A call that a grant covers. */
export interface UsedGrant {
  grantId: string
  run: { id: RunId; userId: UserId }
  /** The id of the call, unique in its run. */
  idRef: string
  tool: string
  at: Date
  /** False if a call of the run is known to have used the grant: then nothing is read to find out. */
  mayBeFirst: boolean
}

/**
 * Counts the use, once per call, with an audit entry for the first use in a run. False if the grant was removed, has expired,
 * or is used up: then the call must not run.
 */
export async function applyGrant(
  tx: Writer,
  { grantId, run, idRef, tool, at, mayBeFirst }: UsedGrant,
  { store }: { store: Pick<Store, 'grants' | 'audit'> },
): Promise<boolean> {
  const use = await store.grants.use(tx, { id: grantId, runId: run.id, idRef, at, mayBeFirst })
  if (use.kind === 'counted' && use.isFirst)
    await store.audit.record(tx, byRun(run.userId), {
      action: 'grant_used',
      at,
      details: { id: grantId, run_id: run.id, tool },
    })
  return use.kind !== 'refused'
}

/** The run acts for its user, without a request. */
const byRun = (userId: UserId): Actor => ({
  userId,
  username: null,
  address: null,
  details: { by: 'run' },
})
