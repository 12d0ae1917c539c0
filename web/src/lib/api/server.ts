// The whole server for administrators: running runs, storage, health, settings, MCP servers.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import type {
  AdminRun,
  HealthFinding,
  PatchServerSettings,
  ServerSettings,
  StorageOverview,
} from '../../../../server/protocol/admin/server.ts'
import { request } from '../http/api-client.ts'
import { whileConnecting } from './mcp.ts'

const RUNS_EVERY_MS = 5_000
const runsKey = ['admin-runs'] as const
const settingsKey = ['admin-settings'] as const

const items = <Item>(path: string, signal: AbortSignal) =>
  request<{ items: Item[] }>(path, { signal }).then((found) => found.items)

/** The runs of all accounts that have not ended, read again every few seconds. */
export const useAdminRuns = () =>
  useQuery({
    queryKey: runsKey,
    queryFn: ({ signal }) => items<AdminRun>('/api/admin/runs', signal),
    refetchInterval: RUNS_EVERY_MS,
    meta: { quiet: true },
  })

/** Stops anybody's run. */
export function useStopRun() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => request(`/api/admin/runs/${id}/stop`, { method: 'POST' }),
    onSettled: () => client.invalidateQueries({ queryKey: runsKey }),
  })
}

/** What the doctor finds wrong, or worth knowing, on the running server. */
export const useHealth = () =>
  useQuery({
    queryKey: ['admin-health'],
    queryFn: ({ signal }) => items<HealthFinding>('/api/admin/health', signal),
    staleTime: 30_000,
    meta: { quiet: true },
  })

/** What accounts store, most first. */
export const useStorage = () =>
  useInfiniteQuery({
    queryKey: ['admin-storage'],
    queryFn: ({ signal, pageParam }) =>
      request<StorageOverview>('/api/admin/storage', { query: { cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined, // the type of the later cursors
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    meta: { quiet: true },
  })

/**
 * All MCP servers with their settings, also those that are off; read again while one is connecting.
 */
export const useAdminMcpServers = (enabled = true) =>
  useQuery({
    queryKey: ['admin-mcp'],
    queryFn: ({ signal }) => items<AdminMcpServer>('/api/admin/mcp', signal),
    enabled,
    refetchInterval: ({ state }) => whileConnecting(state.data),
    meta: { quiet: true },
  })

/** The settings that administrators change on the running server, beside `config.yml`. */
export const useServerSettings = () =>
  useQuery({
    queryKey: settingsKey,
    queryFn: ({ signal }) => request<ServerSettings>('/api/admin/settings', { signal }),
    meta: { quiet: true },
  })

/**
 * Changes some of these settings; the models in menus are read again, whose order may be one of
 * them.
 */
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
