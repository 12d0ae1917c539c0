// Requests for the background tasks of a conversation.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { BackgroundTask } from '../../../../../../server/protocol/runs/background.ts'
import { request, requestDone } from '../../../../lib/http/api-client.ts'

const backgroundKey = (conversationId: string) => ['background', conversationId] as const

/** Whether a task has ended: completed, stopped or failed. */
export const isOver = ({ status }: BackgroundTask): boolean =>
  status === 'completed' || status === 'stopped' || status === 'failed'

/** All background tasks of a conversation, polled while one is unfinished. */
export const useBackgroundTasks = (conversationId: string) =>
  useQuery({
    queryKey: backgroundKey(conversationId),
    queryFn: ({ signal }) =>
      request<{ items: BackgroundTask[] }>(`/api/conversations/${conversationId}/background`, {
        signal,
      }).then(({ items }) => items),
    refetchInterval: ({ state }) =>
      state.data?.some((task) => !isOver(task)) === true ? 3_000 : false,
    meta: { quiet: true },
  })

/** Stops a task, given its id, and refetches the list, even if the server refuses. */
export function useStopBackgroundTask(conversationId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/conversations/${conversationId}/background/${id}/stop`, { method: 'POST' }),
    onSettled: () => client.invalidateQueries({ queryKey: backgroundKey(conversationId) }),
  })
}
