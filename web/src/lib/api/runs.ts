// Requests about runs: read, stop, resume, decide, answer inputs, follow events.
import type { z } from 'zod'
import type { InputAnswerBody } from '../../../../server/protocol/runs/input.ts'
import type { ApprovalDecisionBody, Run } from '../../../../server/protocol/runs/run.ts'
import { request, send } from '../http/api-client.ts'

/** Resolves with the current state of a run. Throws `ApiError`. */
export const readRun = (id: string) => request<Run>(`/api/runs/${id}`)

/** Stops a run; its answer so far stays. Throws `ApiError`. */
export const stopRun = (id: string) => request<Run>(`/api/runs/${id}/stop`, { method: 'POST' })

/** Continues an interrupted or limited run in the same answer. Throws `ApiError`. */
export const resumeRun = (id: string) => request<Run>(`/api/runs/${id}/resume`, { method: 'POST' })

/** Approves or rejects tool calls that wait for a person. Throws `ApiError`, for example if another tab decided first. */
export const decide = (id: string, body: z.input<typeof ApprovalDecisionBody>) =>
  request<Run>(`/api/runs/${id}/approvals`, { method: 'POST', body })

/** Sends the input that an MCP server has requested. Throws `ApiError`. */
export const answerInput = (id: string, body: z.input<typeof InputAnswerBody>) =>
  request<Run>(`/api/runs/${id}/inputs`, { method: 'POST', body })

/**
 * Opens the event stream of a run: after `lastEventId`, or for null with a snapshot of its steps. An abort of `signal`
 * closes the stream. Throws `ApiError`.
 */
export const followRun = (id: string, lastEventId: string | null, signal: AbortSignal) =>
  send(`/api/runs/${id}/events`, {
    query: { stream_mode: 'delta' },
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  })
