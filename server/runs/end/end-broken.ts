// The end of a run that could not be performed to its end: the store did not take something, or something is wrong in here.
import { RunOver, type RunRow } from '../../db/repositories/runs.ts'
import { AppError } from '../../errors.ts'
import type { ErrorEvent } from '../../protocol/run-event.ts'
import type { ActiveRun } from '../active-run.ts'
import type { RunDependencies } from '../performed-run.ts'
import type { RunUsage } from '../usage/usage.ts'

/** Waits between tries to store the end; it costs no money, so the last is repeated until the store takes it. */
const RETRY_DELAYS_MS = [100, 1_000, 5_000]

interface Broken {
  active: ActiveRun
  run: RunRow
  usage: RunUsage
  dependencies: RunDependencies
}

/**
 * Stores that the run failed, with the tokens it used, and returns the event that says so. What is tried again is the
 * storing, never the model. Null when there is nothing to emit: the run has ended otherwise, or it is left for the next
 * start because the server goes away. Never rejects.
 */
export async function endBroken(error: unknown, broken: Broken): Promise<ErrorEvent | null> {
  const { active, run, usage, dependencies } = broken
  const { database, log, store } = dependencies
  if (error instanceof RunOver) {
    await usage.storeAlone().catch((fault: unknown) => {
      log.error({ err: fault, run_id: run.id, tokens: usage.drop() }, 'usage was not stored')
    })
    return null
  }
  log.error({ err: error, run_id: run.id }, 'a run could not be performed to its end')
  const failure = toFailure(error)
  const stored = {
    content: dependencies.redact(failure.message),
    code: failure.code,
    retryable: failure.retryable,
  }
  for (let attempt = 0; ; attempt += 1) {
    if (dependencies.isDraining()) return null
    try {
      await usage.storeWith(false, (write) =>
        database.write(async (tx) => {
          const endedAt = dependencies.now()
          const lastEvent = active.runLog.lastId + 1
          if (!(await write(tx, { status: 'failed', error: stored, lastEvent, endedAt }))) return
          await store.messages.update(tx, run.messageId, {
            status: 'failed',
            error: stored.content,
          })
        }),
      )
      return { event: 'error', ...stored }
    } catch (fault) {
      if (fault instanceof RunOver) return null
      log.error({ err: fault, run_id: run.id, attempt }, "a run's end could not be stored")
      // What the store refuses for what it is would be refused for ever.
      if (!(fault instanceof AppError)) {
        const tokens = usage.drop()
        if (tokens > 0) log.error({ run_id: run.id, tokens }, 'usage was not stored')
      }
    }
    const delay = RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)]
    await new Promise((resolve) => setTimeout(resolve, delay))
  }
}

const toFailure = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError(
        'internal',
        'This answer could not be stored, so it was ended here. Ask again, or go on with it.',
        { retryable: true, cause: error },
      )
