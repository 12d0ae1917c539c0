// Ends a run that failed outside the loop: the store rejected a write, or there is a bug in the server.
import type { SettledRequest } from '../../db/repositories/runs/approvals.ts'
import { RunOver, type RunRow } from '../../db/repositories/runs/runs.ts'
import { AppError, appError } from '../../errors.ts'
import type { ErrorEvent } from '../../protocol/runs/run-event.ts'
import type { ActiveRun } from '../active-run.ts'
import type { RunDependencies } from '../performed-run.ts'
import { announceSettled, withdrawRequests } from '../requests.ts'
import type { RunUsage } from '../usage/usage.ts'
import { runFailure } from './run-failure.ts'

/** Delays between attempts to store the end. The last one repeats until storing succeeds. */
const RETRY_DELAYS_MS = [100, 1_000, 5_000]

interface Broken {
  active: ActiveRun
  run: RunRow
  usage: RunUsage
  dependencies: RunDependencies
}

/**
 * Stores that the run failed, together with its usage, and returns the event to emit. Retries only the write, never the model
 * call. Returns null when there is nothing to emit: the run has already ended, or it is left to the next start because the
 * server is shutting down. Never rejects.
 */
export async function endBroken(error: unknown, broken: Broken): Promise<ErrorEvent | null> {
  const { active, run, usage, dependencies } = broken
  const { database, log, store } = dependencies
  if (error instanceof RunOver) {
    await usage.storeAlone().catch((fault: unknown) => {
      log.error(
        { err: fault, run_id: run.id, tokens: usage.dropPending() },
        'usage could not be stored',
      )
    })
    return null
  }
  log.error({ err: error, run_id: run.id }, 'a run failed unexpectedly')
  const failure = toFailure(error)
  const stored = runFailure(failure, dependencies.redact)
  for (let attempt = 0; ; attempt += 1) {
    if (dependencies.isDraining()) return null
    try {
      let withdrawn: SettledRequest[] = []
      const batch = await usage.nextBatch()
      const write = database.write(async (tx) => {
        const endedAt = dependencies.now()
        const lastEvent = active.runLog.lastId + 1
        await batch.write(tx, { status: 'failed', error: stored, lastEvent, endedAt }, async () => {
          await store.messages.update(tx, run.messageId, {
            status: 'failed',
            error: stored.content,
          })
          withdrawn = await withdrawRequests(tx, run, dependencies)
          await store.appCalls.moveToSteps(tx, run)
          await dependencies.notices?.runEnded(tx, run, {
            status: 'failed',
            finishReason: null,
            error: stored.reason ?? stored.code,
            usage: null,
            receipt: null,
            endedAt,
          })
        })
      })
      await batch.settle(write)
      announceSettled(run, withdrawn, dependencies)
      return { event: 'error', ...stored }
    } catch (fault) {
      if (fault instanceof RunOver) return null
      log.error({ err: fault, run_id: run.id, attempt }, "a run's end could not be stored")
      // Any other error would repeat forever with the same usage, so the next attempt leaves the usage out.
      if (!(fault instanceof AppError)) {
        const tokens = usage.dropPending()
        if (tokens > 0) log.error({ run_id: run.id, tokens }, 'usage could not be stored')
      }
    }
    const delay = RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)]
    await new Promise((resolve) => setTimeout(resolve, delay))
  }
}

const toFailure = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : appError('run_not_stored', {}, { retryable: true, cause: error })
