// The server as administrators see it: active runs, storage, health, settings, MCP servers.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import type {
  AdminRun,
  HealthFinding,
  PatchServerSettings,
  ServerSettings,
  StorageOverview,
} from '../../../../server/protocol/admin/server.ts'
import { request } from '../http/api-client.ts'
import { usePages } from '../http/pages.ts'
import { pollWhileConnecting } from './mcp.ts'

const RUNS_POLL_MS = 5_000
const runsKey = ['admin-runs'] as const
const settingsKey = ['admin-settings'] as const

const items = <Item>(path: string, signal: AbortSignal) =>
  request<{ items: Item[] }>(path, { signal }).then((found) => found.items)

/** The active runs of all accounts, polled. */
export const useAdminRuns = () =>
  useQuery({
    queryKey: runsKey,
    queryFn: ({ signal }) => items<AdminRun>('/api/admin/runs', signal),
    refetchInterval: RUNS_POLL_MS,
    meta: { quiet: true },
  })

/** Stops a run of any account, given its id. */
export function useStopRun() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => request(`/api/admin/runs/${id}/stop`, { method: 'POST' }),
    onSettled: () => client.invalidateQueries({ queryKey: runsKey }),
  })
}

/** The doctor's findings on the running server. */
export const useHealth = () =>
  useQuery({
    queryKey: ['admin-health'],
    queryFn: ({ signal }) => items<HealthFinding>('/api/admin/health', signal),
    staleTime: 30_000,
    meta: { quiet: true },
  })

/** The query key of `useStorage`. */
export const storageKey = ['admin-storage'] as const

/** The storage that each account uses, largest first. */
export const useStorage = () =>
  usePages<StorageOverview['items'][number], Pick<StorageOverview, 'all'>>(
    storageKey,
    '/api/admin/storage',
    {},
  )

/** All MCP servers with their settings, including disabled ones; polled while one is connecting. */
export const useAdminMcpServers = (enabled = true) =>
  useQuery({
    queryKey: ['admin-mcp'],
    queryFn: ({ signal }) => items<AdminMcpServer>('/api/admin/mcp', signal),
    enabled,
    refetchInterval: ({ state }) => pollWhileConnecting(state.data),
    meta: { quiet: true },
  })

/** The settings that administrators can change on the running server, in addition to `config.yml`. */
export const useServerSettings = () =>
  useQuery({
    queryKey: settingsKey,
    queryFn: ({ signal }) => request<ServerSettings>('/api/admin/settings', { signal }),
    meta: { quiet: true },
  })

/** Changes some of these settings. Refetches the models too, because the settings include their order. */
export function useChangeServerSettings() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: PatchServerSettings) =>
      request<ServerSettings>('/api/admin/settings', { method: 'PATCH', body }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: settingsKey }),
        client.invalidateQueries({ queryKey: ['models'] }),
      ]),
  })
}
