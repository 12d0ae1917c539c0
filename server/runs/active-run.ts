// A run that this process performs: its log, how to stop it, and the calls that wait for a decision.
import type { RunId } from '../protocol/ids.ts'
import type { Decision } from '../tools/approval.ts'
import type { RunLog } from './log/log.ts'

/**
 * Why a run's signal was aborted. `deleted`: its conversation or message goes, or its user may no longer use it;
 * `project_deleted`: it worked in a project that goes, while its conversation stays.
 */
export type StopReason = 'stopped' | 'time_limit' | 'shutdown' | 'deleted' | 'project_deleted'

export interface ActiveRun {
  readonly id: RunId
  readonly runLog: RunLog
  readonly signal: AbortSignal
  /** Set once; the first reason stays. */
  readonly stopReason: StopReason | null
  stop(reason: StopReason): void
  /** Settles when the run's end is stored and emitted, or it was left for the next start. Never rejects. */
  readonly ended: Promise<void>
  markEnded(): void
  /** Waits for a person's decision on a call. Never settles when the run is stopped first. */
  waitForDecision(idRef: string): Promise<Decision>
  /** Hands a stored decision to the call that waits for it; false when none does. */
  decide(idRef: string, decision: Decision): boolean
}

export function createActiveRun(id: RunId, runLog: RunLog): ActiveRun {
  const controller = new AbortController()
  const waiting = new Map<string, (decision: Decision) => void>()
  let stopReason: StopReason | null = null
  let markEnded = (): void => {}
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve
  })
  return {
    id,
    runLog,
    signal: controller.signal,
    get stopReason() {
      return stopReason
    },
    stop(reason) {
      stopReason ??= reason
      controller.abort(new Error(`The run was ended: ${reason}`))
    },
    ended,
    markEnded,
    waitForDecision: (idRef) =>
      new Promise((resolve) => {
        waiting.set(idRef, resolve)
      }),
    decide(idRef, decision) {
      const resolve = waiting.get(idRef)
      waiting.delete(idRef)
      resolve?.(decision)
      return resolve !== undefined
    },
  }
}
