// MCP servers: how the configuration names them and how their state is shown.
import { z } from 'zod'

/** Without `__` and without `_` at its end: `__` separates server and tool in the names that a model sees. */
export const McpServerName = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-])){0,39}$/, {
    error: 'a name of up to 40 letters, digits, - and single _ within it',
  })

/** One entry of `mcp_servers`, spelled as other MCP clients spell it: a program to start, or a URL. */
export const McpServerSettings = z
  .strictObject({
    /** What some clients write beside it; which of the two is meant is seen from the other keys. */
    type: z.enum(['stdio', 'http', 'streamable-http']).optional(),
    command: z.string().min(1).max(4096).optional(),
    args: z.array(z.string().max(10_000)).max(200).optional(),
    /** Beside these the program gets only PATH, HOME, USER and alike; nothing else of the server's environment. */
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().min(1).max(4096).optional(),
    url: z.url({ protocol: /^https?$/, error: 'an http:// or https:// URL' }).optional(),
    headers: z.record(z.string(), z.string()).optional(),
  })
  .refine((server) => (server.command === undefined) !== (server.url === undefined), {
    error: 'either `command` (with `args`, `env`, `cwd`) or `url` (with `headers`)',
  })
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
