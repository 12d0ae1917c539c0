// Requests for what the user is asked to decide, in all conversations.
import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { Approval } from '../../../../server/protocol/runs/approval.ts'
import type {
  LinkDecisionBody,
  LinkedApproval,
} from '../../../../server/protocol/runs/approval-link.ts'
import { request, requestDone, send } from '../http/api-client.ts'
import { usePages } from '../http/pages.ts'

/** Begins the key of every list of requests. */
const approvalsKey = ['approvals'] as const

/** The query key of `useApprovals`. */
export const approvalListKey = (state: 'pending' | 'decided') => [...approvalsKey, state] as const

/** Loads the lists and their count again after a decision on this page; changes elsewhere are announced by the server. */
export const refreshApprovals = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({ queryKey: approvalsKey })

/** What waits, or what was decided, newest first, page by page. */
export const useApprovals = (state: 'pending' | 'decided') =>
  usePages<Approval>(approvalListKey(state), '/api/approvals', { state })

/** Loads one request with its arguments, however long; lists leave long ones out. */
export const useApproval = (id: string, enabled = true) =>
  useQuery({
    queryKey: [...approvalsKey, 'one', id],
    queryFn: ({ signal }) => request<Approval>(`/api/approvals/${id}`, { signal }),
    enabled,
  })

/** More are not counted: the number only says whether there is something to do. */
export const MAX_COUNTED = 9

/** How many requests wait, at most one more than `MAX_COUNTED`. 0 until it is known. */
export function useWaitingCount(): number {
  const { data = 0 } = useQuery({
    queryKey: [...approvalsKey, 'count'],
    queryFn: ({ signal }) =>
      request<{ items: Approval[] }>('/api/approvals', {
        query: { limit: String(MAX_COUNTED + 1) },
        signal,
      }).then(({ items }) => items.length),
    meta: { quiet: true },
  })
  return data
}

/** Makes a link with which the request is decided from anywhere. Throws `ApiError`. */
export const createApprovalLink = (id: string) =>
  request<{ url: string; expires_at: string }>(`/api/approvals/${id}/link`, {
    method: 'POST',
    body: {},
  })

/** What a link decides. Never kept for reading offline: whoever has the device could read it. Throws `ApiError`. */
export async function readLink(token: string, signal: AbortSignal): Promise<LinkedApproval> {
  const response = await send(`/a/${encodeURIComponent(token)}`, {
    headers: { accept: 'application/json' },
    signal,
  })
  const body: { data: LinkedApproval } = await response.json()
  return body.data
}

/** Decides the request of a link. Throws `ApiError`, 410 if it no longer waits. */
export const decideByLink = (token: string, decision: LinkDecisionBody['decision']) =>
  requestDone(`/a/${encodeURIComponent(token)}`, { method: 'POST', body: { decision } })
