// The store of the runs that this page follows: their growing steps, pending decisions, and endings.
import { create } from 'zustand'
import type { PendingInput } from '../../../../../server/protocol/runs/input.ts'
import type { Plan } from '../../../../../server/protocol/runs/plan.ts'
import type { RunFailure } from '../../../../../server/protocol/runs/run.ts'
import type {
  FinishReason,
  PendingApproval,
  ReachedLimit,
} from '../../../../../server/protocol/runs/run-event.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import type { Usage } from '../../../../../server/protocol/runs/usage.ts'
import type { Refusal } from '../../../lib/http/refusal-text.ts'
import type { Progress } from './tool-progress.ts'

/**
 * The displayed state of a streaming run. `foldEvent` derives it from the events alone, so that it is the same after a
 * reload.
 */
export type LiveRun = {
  runId: string
  conversationId: string
  messageId: string | null
  steps: readonly Step[]
  /** The index of the step of the last event: a continued text is not the last step. Null before the first one. */
  growing: number | null
  approvals: readonly PendingApproval[]
  /** Pending input requests of MCP servers. */
  inputs: readonly PendingInput[]
  /** Ids of rejected calls whose results have not arrived. */
  rejected: readonly string[]
  /** Live progress of running tools, by call id. */
  progress: Readonly<Record<string, Progress>>
  /** When this page first saw each call, in milliseconds of its own clock; for the running time. */
  startedAt: Readonly<Record<string, number>>
  /** Why and when (milliseconds of the page's clock) the model call is retried; null unless it waits for a retry. */
  retry: (Refusal & { at: number }) | null
  connection: 'open' | 'reconnecting'
  /** Why the server cannot continue the stream, in its own words; null if it is only unreachable. */
  trouble: string | null
  state: 'running' | 'done' | 'error'
  finishReason: FinishReason | null
  limit: ReachedLimit | null
  usage: Usage | null
  error: RunFailure | null
  title: string | null
  /** The plan that the answer follows; null if it has none. */
  plan: Plan | null
}

/** The run without the approval request of a call, which has been decided. */
export const withoutApproval = (run: LiveRun, callId: string): LiveRun => ({
  ...run,
  approvals: run.approvals.filter(({ id_ref: ref }) => ref !== callId),
})

/** The run without an input request, which has been handled. */
export const withoutInput = (run: LiveRun, id: string): LiveRun => ({
  ...run,
  inputs: run.inputs.filter(({ id_ref: ref }) => ref !== id),
})

type LiveRuns = {
  /**
   * The followed runs by id. A conversation has more than one while two models answer the same question. A finished one stays
   * until its stored message is on the page.
   */
  byId: Readonly<Record<string, LiveRun>>
  put(run: LiveRun): void
  change(runId: string, change: (run: LiveRun) => LiveRun): void
  /** Removes an approval request that was decided on this page, before its result arrives. */
  removeApproval(runId: string, callId: string): void
  /** Removes an input request that was handled on this page. */
  removeInput(runId: string, id: string): void
  drop(runId: string): void
}

/** How many ended runs are stored for conversations that have not been opened since. */
const MAX_ENDED_RUNS = 10

const withoutOldest = (runs: LiveRuns['byId']): LiveRuns['byId'] => {
  const ended = Object.entries(runs).filter(([, { state }]) => state !== 'running')
  const tooMany = new Set(ended.slice(0, -MAX_ENDED_RUNS).map(([id]) => id))
  return Object.fromEntries(Object.entries(runs).filter(([id]) => !tooMany.has(id)))
}

/** The store, which `follow` (follow-run.ts) keeps up to date. */
export const useLiveRuns = create<LiveRuns>((set, get) => ({
  byId: {},
  put: (run) =>
    set(({ byId }) => {
      // A run that is continued counts as new.
      const { [run.runId]: _before, ...others } = withoutOldest(byId)
      return { byId: { ...others, [run.runId]: run } }
    }),
  change: (runId, change) =>
    set(({ byId }) => {
      const run = byId[runId]
      return run === undefined ? {} : { byId: { ...byId, [runId]: change(run) } }
    }),
  removeApproval: (runId, callId) => get().change(runId, (run) => withoutApproval(run, callId)),
  removeInput: (runId, id) => get().change(runId, (run) => withoutInput(run, id)),
  drop: (runId) =>
    set(({ byId }) => {
      if (byId[runId] === undefined) return {}
      const { [runId]: _dropped, ...rest } = byId
      return { byId: rest }
    }),
}))

const isIn =
  (conversationId: string) =>
  (run: LiveRun): boolean =>
    run.conversationId === conversationId

/** The active runs of a conversation, oldest first. */
export const activeRunsIn = ({ byId }: LiveRuns, conversationId: string): LiveRun[] =>
  Object.values(byId).filter((run) => run.state === 'running' && isIn(conversationId)(run))

/** The run whose state is that of its conversation: one that waits for a person, else one that is active, else the newest. */
export function mainRunIn({ byId }: LiveRuns, conversationId: string): LiveRun | undefined {
  const runs = Object.values(byId).filter(isIn(conversationId))
  return runs.find(waitsForPerson) ?? runs.find(({ state }) => state === 'running') ?? runs.at(-1)
}

/** Whether the run waits for a person. */
export const waitsForPerson = ({ approvals, inputs }: LiveRun): boolean =>
  approvals.length + inputs.length > 0

/**
 * Whether all active runs of the conversation write one of these answers to one question: then each of them can be shown
 * meanwhile.
 */
export const useIsOnlyBeside = (
  conversationId: string,
  siblings: readonly (string | null)[],
): boolean =>
  useLiveRuns((runs) =>
    activeRunsIn(runs, conversationId).every(({ messageId }) => siblings.includes(messageId)),
  )

/** Whether the conversation has an active run. Changes only at the start and the end of a run. */
export const useIsRunning = (conversationId: string): boolean =>
  useLiveRuns((runs) => activeRunsIn(runs, conversationId).length > 0)

/** The run that writes this message; undefined for other messages, which do not render again while it grows. */
export const useRunOf = (message: {
  id: string
  run_id?: string | null | undefined
}): LiveRun | undefined =>
  useLiveRuns(({ byId }) => {
    const run = message.run_id == null ? undefined : byId[message.run_id]
    if (run !== undefined)
      return run.messageId === null || run.messageId === message.id ? run : undefined
    return Object.values(byId).find(({ messageId }) => messageId === message.id)
  })
