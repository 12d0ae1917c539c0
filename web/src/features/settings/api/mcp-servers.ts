// Requests of administrators about MCP servers: add, change, test, delete.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  AcceptMcpToolBody,
  CreateMcpServerBody,
  McpServerTest,
  PatchMcpServerBody,
  TestMcpServerBody,
} from '../../../../../server/protocol/admin/mcp-server.ts'
import { request, requestDone } from '../../../lib/http/api-client.ts'

function useMcpChange<Input>(change: (input: Input) => Promise<unknown>, quiet = false) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () =>
      Promise.all(
        ['admin-mcp', 'mcp', 'tools'].map((key) => client.invalidateQueries({ queryKey: [key] })),
      ),
    meta: { quiet },
  })
}

/** Adds a server and connects to it. The form shows the error itself. */
export const useAddMcpServer = () =>
  useMcpChange(
    (body: z.input<typeof CreateMcpServerBody>) =>
      request('/api/admin/mcp', { method: 'POST', body }),
    true,
  )

/**
 * Changes a server, given its name. Fields that are left out keep their values. `quiet`: the caller shows the error
 * itself.
 */
export const useChangeMcpServer = (quiet = false) =>
  useMcpChange(
    ({ name, patch }: { name: string; patch: z.input<typeof PatchMcpServerBody> }) =>
      request(`/api/admin/mcp/${name}`, { method: 'PATCH', body: patch }),
    quiet,
  )

/** Removes a server, given its name. */
export const useDeleteMcpServer = () =>
  useMcpChange((name: string) => requestDone(`/api/admin/mcp/${name}`, { method: 'DELETE' }))

/** Lets the lowered risk level of a tool apply to its new description. */
export const useAcceptMcpTool = (server: string) =>
  useMcpChange((body: AcceptMcpToolBody) =>
    request(`/api/admin/mcp/${server}/changed-tools`, { method: 'POST', body }),
  )

/** Connects to a server once, as it is or with changes that are not stored. */
export const useTestMcpServer = () =>
  useMutation({
    mutationFn: (body: z.input<typeof TestMcpServerBody>) =>
      request<McpServerTest>('/api/admin/mcp/test', { method: 'POST', body }),
    meta: { quiet: true },
  })
