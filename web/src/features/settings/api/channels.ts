// Requests for the user's channels.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Channel } from '../../../../../server/protocol/programs/channel.ts'
import { request, requestDone } from '../../../lib/http/api-client.ts'

export type { Channel }

const channelsKey = ['channels'] as const

/** The channels, without their secrets. */
export const useChannels = () =>
  useQuery({
    queryKey: channelsKey,
    queryFn: ({ signal }) =>
      request<{ items: Channel[] }>('/api/channels', { signal }).then(({ items }) => items),
    meta: { quiet: true },
  })

/** Creates a channel. `settings` are the fields of its kind, such as a URL and a token. The form shows the error itself. */
export function useCreateChannel() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: {
      type: string
      name: string
      settings: Record<string, string | string[]>
    }) => requestDone('/api/channels', { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: channelsKey }),
    meta: { quiet: true },
  })
}

/** Removes a channel, given its id. */
export function useDeleteChannel() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => requestDone(`/api/channels/${id}`, { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: channelsKey }),
  })
}
