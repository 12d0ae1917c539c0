// The background tasks of a conversation.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { BackgroundTask } from '../../../../../../server/protocol/runs/background.ts'
import { request, requestDone } from '../../../../lib/http/api-client.ts'

const backgroundKey = (conversationId: string) => ['background', conversationId] as const

/** True once a task will not change any more, whether it completed, was stopped or failed. */
export const isOver = ({ status }: BackgroundTask): boolean =>
  status === 'completed' || status === 'stopped' || status === 'failed'

/** All tasks of a conversation; polled while one of them is unfinished. */
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

/** Stops a task by its id and reads the list again, also when the server refused. */
export function useStopBackgroundTask(conversationId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/conversations/${conversationId}/background/${id}/stop`, { method: 'POST' }),
    onSettled: () => client.invalidateQueries({ queryKey: backgroundKey(conversationId) }),
  })
}
