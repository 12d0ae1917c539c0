// The user's API keys: list, create, revoke.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  ApiKey,
  CreateApiKeyBody,
  CreatedApiKey,
} from '../../../../server/protocol/accounts/user.ts'
import { request, requestDone } from '../http/api-client.ts'

const keysKey = ['api-keys'] as const

/** The keys without their secrets. */
export const useApiKeys = () =>
  useQuery({
    queryKey: keysKey,
    queryFn: ({ signal }) =>
      request<{ items: z.output<typeof ApiKey>[] }>('/api/auth/keys', { signal }).then(
        ({ items }) => items,
      ),
    meta: { quiet: true },
  })

/** Creates a key. Only this response contains the secret. */
export function useCreateApiKey() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: z.input<typeof CreateApiKeyBody>) =>
      request<z.output<typeof CreatedApiKey>>('/api/auth/keys', { method: 'POST', body }),
    onSettled: () => client.invalidateQueries({ queryKey: keysKey }),
    meta: { quiet: true },
  })
}

/** Revokes a key, given its id. The server refuses later requests with it. */
export function useDeleteApiKey() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => requestDone(`/api/auth/keys/${id}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: keysKey }),
  })
}
