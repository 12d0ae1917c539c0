// Decides which users may see and use an MCP server. No other code does.
import type { McpServerSettings } from '../../protocol/models/mcp.ts'

/** The user who wants to use a server. */
export interface McpUser {
  username: string
  role: 'admin' | 'user'
}

/** The part of the configuration that says who may see a server. */
export type McpAudience = Pick<McpServerSettings, 'users'>

/** Whether visibility depends on the user. */
export const isLimited = ({ users }: McpAudience): boolean => users !== undefined

/** A server that is limited to some users is visible to them and to administrators. `undefined`: the user is unknown. */
export const maySeeServer = (audience: McpAudience, user: McpUser | undefined): boolean =>
  !isLimited(audience) ||
  (user !== undefined && (user.role === 'admin' || (audience.users ?? []).includes(user.username)))
