// The runs that this page follows: their growing steps, what they wait for, how they ended.
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
 * What is drawn of a run while it streams. Built from its events alone by `foldEvent`, so that it
 * is the same after a reload.
 */
export type LiveRun = {
  runId: string
  conversationId: string
  messageId: string | null
  steps: readonly Step[]
  approvals: readonly PendingApproval[]
  /** What MCP servers ask for. */
  inputs: readonly PendingInput[]
  /** Calls that a person rejected and whose results have not arrived. */
  rejected: readonly string[]
  /** Live output of running tools, by call. */
  progress: Readonly<Record<string, Progress>>
  /** When this page first saw each call (in milliseconds of its own clock), for the running time. */
  startedAt: Readonly<Record<string, number>>
  /** The model is tried again: why, and when (milliseconds of this page's clock). */
  retry: (Refusal & { at: number }) | null
  connection: 'open' | 'reconnecting'
  /** Why the server cannot continue the stream, in its own words; null while it is only unreachable. */
  trouble: string | null
  state: 'running' | 'done' | 'error'
  finishReason: FinishReason | null
  limit: ReachedLimit | null
  usage: Usage | null
  error: RunFailure | null
  title: string | null
}

/** The run without the approval request of one call, which someone has decided. */
export const withoutApproval = (run: LiveRun, callId: string): LiveRun => ({
  ...run,
  approvals: run.approvals.filter(({ id_ref: ref }) => ref !== callId),
})

/** The run without a question, which someone has answered. */
export const withoutInput = (run: LiveRun, id: string): LiveRun => ({
  ...run,
  inputs: run.inputs.filter(({ id_ref: ref }) => ref !== id),
})

type LiveRuns = {
  /** The run followed in each conversation; a finished one stays until its stored message is on the page. */
  byConversation: Readonly<Record<string, LiveRun>>
  put(run: LiveRun): void
  change(conversationId: string, runId: string, change: (run: LiveRun) => LiveRun): void
  /** Removes an approval request that was just decided here, before its result arrives. */
  answered(conversationId: string, runId: string, callId: string): void
  /** The same for a question of an MCP server. */
  inputAnswered(conversationId: string, runId: string, id: string): void
  drop(conversationId: string, runId: string): void
}

/** Runs that ended in conversations that have not been opened since. */
const MAX_ENDED_RUNS = 10

const withoutOldest = (runs: LiveRuns['byConversation']): LiveRuns['byConversation'] => {
  const ended = Object.entries(runs).filter(([, { state }]) => state !== 'running')
  const tooMany = new Set(ended.slice(0, -MAX_ENDED_RUNS).map(([id]) => id))
  return Object.fromEntries(Object.entries(runs).filter(([id]) => !tooMany.has(id)))
}

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
  answered: (conversationId, runId, callId) =>
    get().change(conversationId, runId, (run) => withoutApproval(run, callId)),
  inputAnswered: (conversationId, runId, id) =>
    get().change(conversationId, runId, (run) => withoutInput(run, id)),
  drop: (conversationId, runId) =>
    set(({ byConversation }) => {
      if (byConversation[conversationId]?.runId !== runId) return {}
      const { [conversationId]: _dropped, ...rest } = byConversation
      return { byConversation: rest }
    }),
}))

/** Whether the conversation has an active run. Changes twice per run, not with each event. */
export const useIsRunning = (conversationId: string): boolean =>
  useLiveRuns(({ byConversation }) => byConversation[conversationId]?.state === 'running')

/** The run that writes this message, or undefined; other messages are not rerendered as it grows. */
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
