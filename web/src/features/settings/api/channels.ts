// Requests for the user's channels.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  Channel,
  ChannelTest,
  CreatedChannel as CreatedChannelSchema,
  ReceiveBody,
  Sender,
} from '../../../../../server/protocol/programs/channel.ts'
import { request, requestDone } from '../../../lib/http/api-client.ts'

export type { Channel, ChannelTest }
/** A new channel, with the token that is shown only once. */
export type CreatedChannel = z.infer<typeof CreatedChannelSchema>

const channelsKey = ['channels'] as const
const sendersKey = (channelId: string) => ['channel-senders', channelId] as const

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
      settings: Record<string, unknown>
      receive?: ReceiveBody
    }) => request<CreatedChannel>('/api/channels', { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: channelsKey }),
    meta: { quiet: true },
  })
}

/** Changes a channel: what is absent stays, `receive: null` ends receiving. The form shows the error itself. */
export function useChangeChannel() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({
      id,
      ...body
    }: {
      id: string
      name?: string
      settings?: Record<string, unknown>
      receive?: ReceiveBody | null
    }) => request<Channel>(`/api/channels/${id}`, { method: 'PATCH', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: channelsKey }),
    meta: { quiet: true },
  })
}

/** Tries settings that are not stored yet. The form shows the error itself. */
export const useTestSettings = () =>
  useMutation({
    mutationFn: (body: { type: string; settings: Record<string, unknown> }) =>
      request<ChannelTest>('/api/channels/test', { method: 'POST', body }),
    meta: { quiet: true },
  })

/** Tries the stored settings of a channel, given its id. */
export const useTestChannel = () =>
  useMutation({
    mutationFn: (id: string) =>
      request<ChannelTest>(`/api/channels/${id}/test`, { method: 'POST' }),
    meta: { quiet: true },
  })

/** Has the server connect again to a service that has refused the channel. */
export function useRetryChannel() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, name }: Pick<Channel, 'id' | 'name'>) =>
      request(`/api/channels/${id}`, { method: 'PATCH', body: { name } }),
    onSuccess: () => client.invalidateQueries({ queryKey: channelsKey }),
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

/** Pairs a person at a messenger with this account, given the code that the bot told them. The form shows the error itself. */
export function usePair() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (code: string) =>
      request<{ channel: { id: string; name: string }; sender: Sender }>('/api/channels/pair', {
        method: 'POST',
        body: { code },
      }),
    onSuccess: ({ channel }) => client.invalidateQueries({ queryKey: sendersKey(channel.id) }),
    meta: { quiet: true },
  })
}

/** The people who have written to a channel. */
export const useSenders = (channelId: string) =>
  useQuery({
    queryKey: sendersKey(channelId),
    queryFn: ({ signal }) =>
      request<{ items: Sender[] }>(`/api/channels/${channelId}/senders?limit=100`, { signal }).then(
        ({ items }) => items,
      ),
    meta: { quiet: true },
  })

/** Blocks a person, lets them write again, or forgets them, so that they are a stranger again. */
export function useSetSender(channelId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, state }: { id: string; state: 'allowed' | 'blocked' | 'forgotten' }) => {
      const path = `/api/channels/${channelId}/senders/${id}`
      return state === 'forgotten'
        ? requestDone(path, { method: 'DELETE' })
        : requestDone(path, { method: 'PUT', body: { state } })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: sendersKey(channelId) }),
  })
}
