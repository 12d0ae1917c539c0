// Runs: their events, and decisions about them.
import type { z } from 'zod'
import type { InputAnswerBody } from '../../../../server/protocol/runs/input.ts'
import type { ApprovalDecisionBody, Run } from '../../../../server/protocol/runs/run.ts'
import { request, send } from '../http/api-client.ts'

/** How a run stands. Throws `ApiError`. */
export const readRun = (id: string) => request<Run>(`/api/runs/${id}`)

/** Stops a run; what it has written so far stays. Throws `ApiError`. */
export const stopRun = (id: string) => request<Run>(`/api/runs/${id}/stop`, { method: 'POST' })

/** Continues an interrupted or limited run in the same answer. Throws `ApiError`. */
export const resumeRun = (id: string) => request<Run>(`/api/runs/${id}/resume`, { method: 'POST' })

/**
 * Approves or rejects tool calls that wait for a person. Throws `ApiError`, such as when another
 * tab was faster.
 */
export const decide = (id: string, body: z.input<typeof ApprovalDecisionBody>) =>
  request<Run>(`/api/runs/${id}/approvals`, { method: 'POST', body })

/** Answers the questions of an MCP server. Throws `ApiError`. */
export const answerInput = (id: string, body: z.input<typeof InputAnswerBody>) =>
  request<Run>(`/api/runs/${id}/inputs`, { method: 'POST', body })

/** Follows a run after `lastEventId`, or from a snapshot of its steps when that is null. */
export const followRun = (id: string, lastEventId: string | null, signal: AbortSignal) =>
  send(`/api/runs/${id}/events`, {
    query: { stream_mode: 'delta' },
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  })
