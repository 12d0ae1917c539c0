// What the agent remembers of the user: the text of their CONTEXT.md.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { request } from '../api-client.ts'

const memoryKey = ['memory'] as const
type Memory = { content: string }

export const useMemory = () =>
  useQuery({
    queryKey: memoryKey,
    queryFn: ({ signal }) => request<Memory>('/api/memory', { signal }),
    staleTime: 0,
    meta: { quiet: true },
  })

export function useSaveMemory() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (content: string) =>
      request<Memory>('/api/memory', { method: 'PUT', body: { content } }),
    onSuccess: (memory) => client.setQueryData(memoryKey, memory),
  })
}
