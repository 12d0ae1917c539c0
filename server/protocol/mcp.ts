// MCP servers: how the configuration names them and how their state is shown.
import { z } from 'zod'

/** Without `__`, which separates server and tool in the names that a model sees. */
export const McpServerName = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,39}$/, {
  error: 'a server name has 1 to 40 letters, digits, `-` or single `_`, and starts with no `_`',
})

/** One entry of `mcp_servers`, spelled as other MCP clients spell it. */
export const McpServerSettings = z.union([
  z.strictObject({
    type: z.literal('stdio').optional(),
    command: z.string().min(1).max(4096),
    args: z.array(z.string().max(10_000)).max(200).optional(),
    /** Beside these the child gets only PATH, HOME, USER and alike; nothing else of the server's environment. */
    env: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({
    type: z.enum(['http', 'streamable-http']).optional(),
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).optional(),
  }),
])
export type McpServerSettings = z.infer<typeof McpServerSettings>

/** `connecting`: a try is under way; `waiting`: it failed and is tried again later. */
export const McpServerStatus = z.enum(['connecting', 'connected', 'waiting'])
export type McpServerStatus = z.infer<typeof McpServerStatus>

export const McpServer = z
  .object({
    name: z.string(),
    transport: z.enum(['stdio', 'http']),
    status: McpServerStatus,
    tools: z.array(z.object({ name: z.string(), description: z.string(), read_only: z.boolean() })),
    /** Why it is not connected, for a person; never a path, a URL or a header. */
    error: z.string().nullable(),
  })
  .meta({ id: 'McpServer' })
export type McpServer = z.infer<typeof McpServer>

export const McpServerList = z.object({ servers: z.array(McpServer) })
