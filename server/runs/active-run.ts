// A run that this process performs: its log, its abort signal, and the calls that wait for a decision.
import type { StopCause } from '../db/tables/runs/runs.ts'
import type { RunId } from '../protocol/ids.ts'
import type { InputAnswer } from '../protocol/runs/input.ts'
import type { Decision } from '../tools/approval.ts'
import type { RunLog } from './log/log.ts'

/** Why a run's signal was aborted. */
export type StopReason = StopCause | 'time_limit' | 'shutdown'

/** A run that this process performs, for code that follows, stops or decides it. */
export interface ActiveRun {
  readonly id: RunId
  readonly runLog: RunLog
  readonly signal: AbortSignal
  /** The first reason given; later ones are ignored. */
  readonly stopReason: StopReason | null
  stop(reason: StopReason): void
  /** Resolves when the run's end is stored and emitted, or when the run is suspended until the next start. Never rejects. */
  readonly ended: Promise<void>
  markEnded(): void
  /** Waits for a person's decision on a call. Never settles if the run is stopped first. */
  waitForDecision(idRef: string): Promise<Decision>
  /** Passes a stored decision to the call that waits for it. Returns false if no call does. */
  decide(idRef: string, decision: Decision): boolean
  /** Waits for a person's answer to a question of an MCP server. Never settles if the run is stopped first. */
  waitForInput(idRef: string): Promise<InputAnswer>
  /** Passes a stored answer to the question that waits for it. Returns false if none does. */
  answer(idRef: string, answer: InputAnswer): boolean
}

/** Create one per attempt that this process performs. */
export function createActiveRun(id: RunId, runLog: RunLog): ActiveRun {
  const controller = new AbortController()
  const decisions = createMailbox<Decision>()
  const answers = createMailbox<InputAnswer>()
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
      controller.abort(new Error(`The run was stopped: ${reason}`))
    },
    ended,
    markEnded,
    waitForDecision: decisions.wait,
    decide: decisions.deliver,
    waitForInput: answers.wait,
    answer: answers.deliver,
  }
}

/** Delivers a person's decision or answer to the call that waits for it, by the id of the request. */
function createMailbox<Value>() {
  const waiting = new Map<string, (value: Value) => void>()
  return {
    wait: (id: string): Promise<Value> =>
      new Promise((resolve) => {
        waiting.set(id, resolve)
      }),
    deliver(id: string, value: Value): boolean {
      const resolve = waiting.get(id)
      waiting.delete(id)
      resolve?.(value)
      return resolve !== undefined
    },
  }
}
