// Tasks that go on in the background of a conversation.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { BackgroundTask } from '../../../../server/protocol/background.ts'
import { request, requestDone } from '../api-client.ts'

const backgroundKey = (conversationId: string) => ['background', conversationId] as const

const isOver = ({ status }: BackgroundTask): boolean =>
  status === 'completed' || status === 'stopped' || status === 'failed'

/** Tasks that are not over; looked at again while there are some. */
export const useBackgroundTasks = (conversationId: string) =>
  useQuery({
    queryKey: backgroundKey(conversationId),
    queryFn: ({ signal }) =>
      request<{ items: BackgroundTask[] }>(`/api/conversations/${conversationId}/background`, {
        signal,
      }).then(({ items }) => items.filter((task) => !isOver(task))),
    refetchInterval: (query) => ((query.state.data?.length ?? 0) > 0 ? 3_000 : false),
    meta: { quiet: true },
  })

export function useStopBackgroundTask(conversationId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/conversations/${conversationId}/background/${id}/stop`, { method: 'POST' }),
    onSettled: () => client.invalidateQueries({ queryKey: backgroundKey(conversationId) }),
  })
}
