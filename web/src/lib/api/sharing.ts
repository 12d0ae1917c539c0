// Exports of one conversation as a file, and shares: list, create, revoke, continue.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type { ExportFormat, Imported } from '../../../../server/protocol/conversations/export.ts'
import type { Share, ShareBody } from '../../../../server/protocol/conversations/share.ts'
import { request, requestDone, send } from '../http/api-client.ts'
import { requestAll } from '../http/pages.ts'

/** A conversation as a file: its content and the name that the server suggests. */
export async function exportConversation(
  id: string,
  format: ExportFormat,
): Promise<{ content: Blob; name: string }> {
  const response = await send(`/api/conversations/${id}/export`, {
    query: { format },
  })
  const name = /filename\*=UTF-8''([^;]+)/.exec(
    response.headers.get('content-disposition') ?? '',
  )?.[1]
  return {
    content: await response.blob(),
    name: name === undefined ? `conversation.${format}` : decodeURIComponent(name),
  }
}

const sharesKey = ['shares'] as const

/** The user's shares, newest first. */
export const useShares = () =>
  useQuery({
    queryKey: sharesKey,
    queryFn: ({ signal }) => requestAll<Share>('/api/shares', signal),
    meta: { quiet: true },
  })

/** Copies the texts of a share, given its token, into a new conversation of the user. */
export const useContinueShare = () =>
  useMutation({
    mutationFn: (token: string) =>
      request<z.output<typeof Imported>>(`/api/shared/${encodeURIComponent(token)}/continue`, {
        method: 'POST',
      }),
    meta: { quiet: true },
  })

/** Shares a conversation, or updates the shared copy under the same link. */
export function useShare() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: ShareBody & { id: string }) =>
      request<Share>(`/api/conversations/${id}/share`, { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: sharesKey }),
    meta: { quiet: true },
  })
}

/** Stops sharing a conversation, given its id; its link becomes invalid. */
export function useRevokeShare() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => requestDone(`/api/conversations/${id}/share`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: sharesKey }),
  })
}
