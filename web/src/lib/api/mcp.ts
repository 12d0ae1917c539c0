// The configured MCP servers: their state, prompts and resources.
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { FileInfo } from '../../../../server/protocol/conversations/file.ts'
import type {
  McpCallbackBody,
  McpPrompt,
  McpResourceBody,
  McpResourceList,
  McpServer,
} from '../../../../server/protocol/models/mcp.ts'
import { request } from '../http/api-client.ts'

/** The polling interval of a list of servers in milliseconds while one is connecting, else false. */
export const pollWhileConnecting = (
  servers: readonly { state: string; auth: string }[] | undefined,
): number | false =>
  servers?.some(({ state, auth }) => !['connected', 'off'].includes(state) && auth !== 'needed') ===
  true
    ? 3_000
    : false

/** The servers that the user may use, polled while one of them is connecting. */
export const useMcpServers = (enabled = true) =>
  useQuery({
    queryKey: ['mcp'],
    enabled,
    queryFn: ({ signal }) =>
      request<{ servers: McpServer[] }>('/api/mcp', { signal }).then(({ servers }) => servers),
    refetchInterval: ({ state }) => pollWhileConnecting(state.data),
    meta: { quiet: true },
  })

/** Starts a sign-in. Resolves with the URL at which the user signs in to the server. */
export const beginSignIn = (name: string) =>
  request<{ url: string }>(`/api/mcp/${name}/connect`, { method: 'POST' })

/** Completes a sign-in with the parameters that the authorization server added to this page's URL. */
export const finishSignIn = (body: z.input<typeof McpCallbackBody>) =>
  request<{ servers: McpServer[] }>('/api/mcp/callback', { method: 'POST', body })

/** Removes the user's sign-in to a server. Throws `ApiError`. */
export const signOut = (name: string) =>
  request(`/api/mcp/${name}/connection`, { method: 'DELETE' })

/** How long a list of prompts or resources counts as fresh. */
const LIST_STALE_MS = 60_000

/** The prompts of all connected servers. */
export const useMcpPrompts = () =>
  useQuery({
    queryKey: ['mcp', 'prompts'],
    queryFn: ({ signal }) =>
      request<{ prompts: McpPrompt[] }>('/api/mcp/prompts', { signal }).then(
        ({ prompts }) => prompts,
      ),
    staleTime: LIST_STALE_MS,
    meta: { quiet: true },
  })

/** Resolves with the text of a prompt, filled in with its arguments. */
export const fillPrompt = (
  { server, name }: Pick<McpPrompt, 'server' | 'name'>,
  values: Readonly<Record<string, string>>,
) =>
  request<{ text: string }>(
    `/api/mcp/prompts/${encodeURIComponent(server)}/${encodeURIComponent(name)}`,
    { method: 'POST', body: { arguments: values } },
  )

/** The resources of all connected servers. */
export const useMcpResources = () =>
  useQuery({
    queryKey: ['mcp', 'resources'],
    queryFn: ({ signal }) =>
      request<z.output<typeof McpResourceList>>('/api/mcp/resources', { signal }),
    staleTime: LIST_STALE_MS,
    meta: { quiet: true },
  })

/** Makes the server read a resource into a file that a message can attach. */
export const readResource = (
  server: string,
  body: z.input<typeof McpResourceBody>,
  signal: AbortSignal,
) =>
  request<FileInfo>(`/api/mcp/resources/${encodeURIComponent(server)}`, {
    method: 'POST',
    body,
    signal,
  })
