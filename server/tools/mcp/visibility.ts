// Decides which users may see and use an MCP server: the only place that does.
import type { McpServerSettings } from '../../protocol/models/mcp.ts'

/** The user who wants to use a server. */
export interface McpUser {
  username: string
  role: 'admin' | 'user'
}

/** What the configuration says about who may see a server. */
export type McpAudience = Pick<McpServerSettings, 'users'>

/** Whether it matters who the user is. */
export const isLimited = ({ users }: McpAudience): boolean => users !== undefined

/** A server that is limited to some users is there for them and for administrators. `undefined`: nobody is known. */
export const maySeeServer = (audience: McpAudience, user: McpUser | undefined): boolean =>
  !isLimited(audience) ||
  (user !== undefined && (user.role === 'admin' || (audience.users ?? []).includes(user.username)))
