// Requests for grants: what the user has allowed once and for all, which the page calls permissions.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  Grant,
  GrantPreview,
  PreviewGrantBody,
} from '../../../../server/protocol/runs/grant.ts'
import { request, requestDone } from '../http/api-client.ts'
import { usePages } from '../http/pages.ts'

/** The query key of `useGrants`. */
export const grantsKey = ['grants'] as const

/** The user's grants, newest first, page by page. */
export const useGrants = () => usePages<Grant>(grantsKey, '/api/grants', {})

/** Removes a grant. */
export function useRemoveGrant() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => requestDone(`/api/grants/${id}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: grantsKey }),
  })
}

/** What a grant would have allowed among the user's decisions; null asks for nothing. The view shows errors itself. */
export const useGrantPreview = (body: z.input<typeof PreviewGrantBody> | null) =>
  useQuery({
    queryKey: ['grant-preview', body],
    queryFn: ({ signal }) =>
      request<GrantPreview>('/api/grants/preview', { method: 'POST', body, signal }),
    enabled: body !== null,
    retry: false,
    meta: { quiet: true },
  })
