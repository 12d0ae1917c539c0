// Opening a file as an app, and permitting it the network.
import { useMutation, useQuery } from '@tanstack/react-query'
import type { RunningApp } from '../../../../../server/protocol/projects/app.ts'
import { request } from '../../../lib/http/api-client.ts'

/** Opens the app anew, with a new address, for each `edition`. */
export const useApp = (projectId: string, path: string, edition: string) =>
  useQuery({
    queryKey: ['apps', projectId, path, edition],
    queryFn: ({ signal }) =>
      request<RunningApp>('/api/apps', {
        method: 'POST',
        body: { project_id: projectId, path },
        signal,
      }),
    // The address of a frame must stay: another one would load the app again.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    meta: { quiet: true },
  })

/** Permits an open app the network, or ends the permission. */
export const useAppNetwork = () =>
  useMutation({
    mutationFn: ({ id, network }: { id: string; network: boolean }) =>
      request<RunningApp>(`/api/apps/${id}`, { method: 'PATCH', body: { network } }),
  })
