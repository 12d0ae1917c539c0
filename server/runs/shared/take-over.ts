// What an instance does for runs that it shares with others: takes them over, and acts on what others stored for them.
import type { LeaseRepository } from '../../db/repositories/runs/leases.ts'
import type { Store } from '../../db/store.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { ActiveRun } from '../active-run.ts'
import { toDecision } from '../approvals/request.ts'
import type { RunSharing, SharedRuns } from './sharing.ts'

/** How long a stop waits for the instance that performs the run, and how often it checks. */
const STOP_WAIT_MS = 1_000
const STOP_LOOK_MS = 40

interface Dependencies {
  store: Pick<Store, 'runs' | 'runInputs'> & { leases: LeaseRepository }
  instance: string
  active(id: RunId): ActiveRun | undefined
  /** The runs that this instance performs and whose rows are stored. */
  performed(): RunId[]
  /** Performs a run unless another instance does. Never rejects. */
  continueRun(id: RunId): Promise<void>
  log: { warn(details: object, message: string): void }
}

/**
 * @param active finds a run that this instance performs.
 * @param continueRun begins the run's next attempt here.
 */
export function createSharedRuns({
  store,
  instance,
  active,
  performed,
  continueRun,
  log,
}: Dependencies): SharedRuns {
  async function deliver(id: RunId, run: ActiveRun): Promise<void> {
    for (const row of await store.runs.approvals(id))
      if (row.status !== 'pending' && row.status !== 'void') run.decide(row.idRef, toDecision(row))
    for (const { idRef, answer } of await store.runInputs.answered(id)) run.answer(idRef, answer)
  }
  return {
    take: continueRun,
    async takeOver() {
      const ids = await store.leases.unheldRuns(instance)
      const lost = ids.filter((id) => active(id) === undefined)
      if (lost.length > 0)
        log.warn({ runs: lost.length }, 'continuing runs that no process performs')
      for (const id of lost) await continueRun(id)
    },
    async lookAtChanges() {
      // A run that waits for a person writes nothing, so it would not notice that it lost its lease.
      for (const id of await store.leases.lostRuns(instance, performed()))
        active(id)?.stop('shutdown')
      for (const { id, stopRequested, stopCause } of await store.leases.changedRuns(instance)) {
        const run = active(id)
        if (run === undefined) continue
        if (stopRequested) run.stop(stopCause ?? 'stopped')
        else await deliver(id, run)
      }
    },
    setRemoteListeners(id, count, pages) {
      active(id)?.runLog.setRemoteListeners(count, pages)
    },
  }
}

/**
 * Stops a run that this instance does not perform: through the instance that does, or with `end` if none does. Resolves
 * when the run has ended, or after a second, once the stop request is stored.
 */
export async function stopElsewhere(
  id: RunId,
  {
    store,
    sharing,
    requestStop,
    end,
  }: {
    store: Pick<Store, 'runs' | 'leases'>
    sharing: Pick<RunSharing, 'nudge'>
    requestStop(): Promise<unknown>
    end(): Promise<void>
  },
): Promise<void> {
  await requestStop()
  const deadline = performance.now() + STOP_WAIT_MS
  for (;;) {
    const run = await store.runs.find(id)
    if (run === undefined || run.endedAt !== null) return
    const holder = await store.leases.holderOf(id)
    if (holder === null) await end()
    else sharing.nudge(holder)
    if (performance.now() > deadline) return
    await new Promise((resolve) => setTimeout(resolve, STOP_LOOK_MS))
  }
}
