// How the official SDK reaches an MCP server: transports with limits, the list of tools, and what failures mean.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/sdk/types.js'
import { type DescribedFailure, storedFailure } from '../../protocol/failures/stored.ts'
import type { McpServerSettings } from '../../protocol/mcp.ts'

/** Milliseconds for the handshake, and for each page of the tool list. */
export const CONNECT_TIMEOUT_MS = 20_000
const MAX_TOOLS = 200
/** Bytes of one response over HTTP; the stdio transport has the same limit of its own. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024

export type RemoteTool = Tool
export type RemoteResult = CallToolResult
export type RemoteProgress = Progress

/** The SDK is loaded with the first connection, so that a server without MCP servers does not load it. */
export const loadSdk = async () => {
  const [client, stdio, http, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/stdio.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  return { ...client, ...stdio, ...http, ...types }
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>

/** How the SDK reaches a server with these settings. */
export function transportFor(settings: McpServerSettings, sdk: Sdk): Transport {
  if (settings.command !== undefined)
    return new sdk.StdioClientTransport({
      command: settings.command,
      args: settings.args ?? [],
      // The SDK adds PATH, HOME and the like, and nothing else of this process's environment.
      env: settings.env ?? {},
      ...(settings.cwd === undefined ? {} : { cwd: settings.cwd }),
      // The server's own log may contain secrets, so it is discarded.
      stderr: 'ignore',
      maxBufferSize: MAX_ANSWER_BYTES,
    })
  const transport = new sdk.StreamableHTTPClientTransport(new URL(settings.url ?? ''), {
    requestInit: { headers: settings.headers ?? {} },
    fetch: boundedFetch,
  })
  // The class declares `string | undefined` where its interface has an optional key; callers see no difference.
  return transport as Transport
}

/** A little more than a call may take; what the server sends later is ignored. */
const ANSWER_TIMEOUT_MS = 130_000

/** A fetch that aborts responses beyond the size or time limit; only the long-lived event stream (GET) is exempt. */
const boundedFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  if (init?.method === 'GET') return await fetch(url, init)
  const deadline = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  const signal = init?.signal == null ? deadline : AbortSignal.any([init.signal, deadline])
  const response = await fetch(url, { ...init, signal })
  if (init?.method !== 'POST' || response.body === null) return response
  let seen = 0
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen += chunk.byteLength
        if (seen > MAX_ANSWER_BYTES) controller.error(new Error('the answer is too large'))
        else controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(counted, { status, statusText, headers })
}

/** All tools of a server, 200 at most; none when it offers none. */
export async function listTools(client: Client, sdk: Sdk): Promise<readonly RemoteTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const tools: RemoteTool[] = []
  let cursor: string | undefined
  do {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      sdk.ListToolsResultSchema,
      { timeout: CONNECT_TIMEOUT_MS },
    )
    tools.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor !== undefined && tools.length < MAX_TOOLS)
  return tools.slice(0, MAX_TOOLS)
}

export type FaultKind = 'answered' | 'slow' | 'session_lost' | 'broken'

/**
 * Whether the server responded, was too slow, does not know the session, or the connection is broken. Distinguished by
 * the protocol's error codes: -32000 and -32001 are the SDK's own 'closed' and 'timed out'.
 */
export function kindOf(fault: unknown): FaultKind {
  if (!(fault instanceof Error) || !('code' in fault)) return 'broken'
  if (fault.code === -32001) return 'slow'
  if (fault.code === 404) return 'session_lost'
  return fault.name === 'McpError' && fault.code !== -32000 ? 'answered' : 'broken'
}

/** A text for people: no path, no URL, no header. */
export function explain(cause: unknown): DescribedFailure {
  const code = codeOf(cause) ?? (cause instanceof Error ? codeOf(cause.cause) : undefined)
  if (code === 'ENOENT') return storedFailure('mcp_command_not_found')
  if (code === 'EACCES') return storedFailure('mcp_command_not_allowed')
  if (code === 'ECONNREFUSED') return storedFailure('mcp_connection_refused')
  if (code === 'ENOTFOUND') return storedFailure('mcp_host_unknown')
  if (code === 401 || code === 403) return storedFailure('mcp_credentials_refused')
  if (code === -32001) return storedFailure('mcp_too_slow')
  if (code === -32000) return storedFailure('mcp_ended')
  return storedFailure('mcp_connection_failed')
}

const codeOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'code' in value ? value.code : undefined
