// Query for the branches of a conversation.
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { BranchList } from '../../../../server/protocol/conversations/branch.ts'
import { request } from '../http/api-client.ts'
import { messageKeys } from './messages.ts'

/** All branches of the conversation. The key extends the one of the messages, so both are invalidated together. */
export const useBranches = (conversationId: string) =>
  useQuery({
    queryKey: [...messageKeys.list(conversationId), 'branches'],
    queryFn: ({ signal }) =>
      request<z.output<typeof BranchList>>(`/api/conversations/${conversationId}/branches`, {
        signal,
      }),
    staleTime: 0,
    meta: { quiet: true },
  })
