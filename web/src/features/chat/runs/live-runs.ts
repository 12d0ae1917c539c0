// The store of the runs that this page follows: their growing steps, pending decisions, and endings.
import { create } from 'zustand'
import type { PendingInput } from '../../../../../server/protocol/runs/input.ts'
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
  /** The followed run of each conversation. A finished one stays until its stored message is on the page. */
  byConversation: Readonly<Record<string, LiveRun>>
  put(run: LiveRun): void
  change(conversationId: string, runId: string, change: (run: LiveRun) => LiveRun): void
  /** Removes an approval request that was decided on this page, before its result arrives. */
  removeApproval(conversationId: string, runId: string, callId: string): void
  /** Removes an input request that was handled on this page. */
  removeInput(conversationId: string, runId: string, id: string): void
  drop(conversationId: string, runId: string): void
}

/** How many ended runs are stored for conversations that have not been opened since. */
const MAX_ENDED_RUNS = 10

const withoutOldest = (runs: LiveRuns['byConversation']): LiveRuns['byConversation'] => {
  const ended = Object.entries(runs).filter(([, { state }]) => state !== 'running')
  const tooMany = new Set(ended.slice(0, -MAX_ENDED_RUNS).map(([id]) => id))
  return Object.fromEntries(Object.entries(runs).filter(([id]) => !tooMany.has(id)))
}

/** The store, which `follow` (follow-run.ts) keeps up to date. */
export const useLiveRuns = create<LiveRuns>((set, get) => ({
  byConversation: {},
  put: (run) =>
    set(({ byConversation }) => ({
      byConversation: { ...withoutOldest(byConversation), [run.conversationId]: run },
    })),
  change: (conversationId, runId, change) =>
    set(({ byConversation }) => {
      const run = byConversation[conversationId]
      if (run?.runId !== runId) return {}
      return { byConversation: { ...byConversation, [conversationId]: change(run) } }
    }),
  removeApproval: (conversationId, runId, callId) =>
    get().change(conversationId, runId, (run) => withoutApproval(run, callId)),
  removeInput: (conversationId, runId, id) =>
    get().change(conversationId, runId, (run) => withoutInput(run, id)),
  drop: (conversationId, runId) =>
    set(({ byConversation }) => {
      if (byConversation[conversationId]?.runId !== runId) return {}
      const { [conversationId]: _dropped, ...rest } = byConversation
      return { byConversation: rest }
    }),
}))

/** Whether the conversation has an active run. Changes only at the start and the end of a run. */
export const useIsRunning = (conversationId: string): boolean =>
  useLiveRuns(({ byConversation }) => byConversation[conversationId]?.state === 'running')

/** The run that writes this message; undefined for other messages, which do not render again while it grows. */
export const useRunOf = (
  conversationId: string,
  message: { id: string; run_id?: string | null | undefined },
): LiveRun | undefined =>
  useLiveRuns(({ byConversation }) => {
    const run = byConversation[conversationId]
    if (run === undefined) return undefined
    const writes =
      run.messageId === null ? run.runId === message.run_id : run.messageId === message.id
    return writes ? run : undefined
  })
