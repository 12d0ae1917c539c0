// Runs: their events, and decisions about them.
import type { z } from 'zod'
import type { InputAnswerBody } from '../../../../server/protocol/runs/input.ts'
import type { ApprovalDecisionBody, Run } from '../../../../server/protocol/runs/run.ts'
import { request, send } from '../http/api-client.ts'

export const readRun = (id: string) => request<Run>(`/api/runs/${id}`)

export const stopRun = (id: string) => request<Run>(`/api/runs/${id}/stop`, { method: 'POST' })

export const resumeRun = (id: string) => request<Run>(`/api/runs/${id}/resume`, { method: 'POST' })

export const decide = (id: string, body: z.input<typeof ApprovalDecisionBody>) =>
  request<Run>(`/api/runs/${id}/approvals`, { method: 'POST', body })

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
