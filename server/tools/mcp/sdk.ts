// The official MCP client, loaded with the first connection, and the types of it that this folder uses.
import type { CallToolResult, Client, Progress, Tool } from '@modelcontextprotocol/client'

/** A server without MCP servers never loads the SDK, which takes a third of a second. */
export const loadSdk = async () => {
  const [client, stdio] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('@modelcontextprotocol/client/stdio'),
  ])
  return { ...client, ...stdio }
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>
export type RemoteClient = Client
export type RemoteTool = Tool
export type RemoteResult = CallToolResult
export type RemoteProgress = Progress
