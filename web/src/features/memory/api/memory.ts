// Requests for the memory: the text of the user's CONTEXT.md.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { isConflict, request } from '../../../lib/http/api-client.ts'
import { reportError } from '../../../ui/states/error-text.ts'
import { withoutFact } from '../memory-facts.ts'

const memoryKey = ['memory'] as const
type Memory = { content: string }

/** The text; refetched whenever the page opens, because the agent changes it. */
export const useMemory = () =>
  useQuery({
    queryKey: memoryKey,
    queryFn: ({ signal }) => request<Memory>('/api/memory', { signal }),
    staleTime: 0,
    meta: { quiet: true },
  })

/** Replaces the whole text; fails with a conflict if it is no longer `base`. */
export function useSaveMemory() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ content, base }: { content: string; base: string }) =>
      request<Memory>('/api/memory', { method: 'PUT', body: { content, base } }),
    onSuccess: (memory) => client.setQueryData(memoryKey, memory),
    onError: (error) => {
      if (isConflict(error)) void client.invalidateQueries({ queryKey: memoryKey })
      else reportError(error)
    },
    meta: { quiet: true },
  })
}

/** Removes one fact from the current text, because the agent may have added others. */
export function useForgetFact() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (line: string) => {
      const { content } = await request<Memory>('/api/memory')
      return await request<Memory>('/api/memory', {
        method: 'PUT',
        body: { content: withoutFact(content, line), base: content },
      })
    },
    onSuccess: (memory) => client.setQueryData(memoryKey, memory),
  })
}
