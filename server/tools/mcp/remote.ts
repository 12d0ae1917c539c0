// How an MCP server is reached by the official SDK: transports with their caps, the list of tools, and what faults mean.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { McpServerSettings } from '../../protocol/mcp.ts'

/** Milliseconds for a server to say hello, and for each page of its tools. */
export const CONNECT_TIMEOUT_MS = 20_000
const MAX_TOOLS = 200
/** One answer over HTTP; the stdio transport has the same cap of its own. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024

export type RemoteTool = Tool
export type RemoteResult = CallToolResult

/** The SDK is loaded with the first connection only: a server without MCP servers never pays for it. */
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
      // The SDK adds PATH, HOME and alike, and nothing else of this process.
      env: settings.env ?? {},
      ...(settings.cwd === undefined ? {} : { cwd: settings.cwd }),
      // Its own diary; it may hold secrets, so it is not kept.
      stderr: 'ignore',
      maxBufferSize: MAX_ANSWER_BYTES,
    })
  const transport = new sdk.StreamableHTTPClientTransport(new URL(settings.url ?? ''), {
    requestInit: { headers: settings.headers ?? {} },
    fetch: boundedFetch,
  })
  // The class says `string | undefined` where its interface has an optional key; the same thing to callers.
  return transport as Transport
}

/** A little more than a call may take: what a server still sends afterwards is for nobody. */
const ANSWER_TIMEOUT_MS = 130_000

/**
 * Fetch that breaks off the response to a call which grows beyond the cap or does not end; only the long-lived event
 * stream (GET) is left alone.
 */
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

/** All tools that a server offers, 200 at most; none when it offers none. */
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
 * Whether the server answered, was too slow, forgot our session, or the connection is broken. Told apart by the numbers of the protocol: -32000 and -32001 are the SDK's own 'closed' and 'timed out'.
 */
export function kindOf(fault: unknown): FaultKind {
  if (!(fault instanceof Error) || !('code' in fault)) return 'broken'
  if (fault.code === -32001) return 'slow'
  if (fault.code === 404) return 'session_lost'
  return fault.name === 'McpError' && fault.code !== -32000 ? 'answered' : 'broken'
}

/** Words for people: no path, no URL, no header. */
export function explain(cause: unknown): string {
  const code = codeOf(cause) ?? (cause instanceof Error ? codeOf(cause.cause) : undefined)
  if (code === 'ENOENT') return 'its command was not found on the server'
  if (code === 'EACCES') return 'its command may not be run'
  if (code === 'ECONNREFUSED') return 'it refused the connection'
  if (code === 'ENOTFOUND') return 'its host name is unknown'
  if (code === 401 || code === 403) return 'it refused our credentials'
  if (code === -32001) return 'it did not answer in time'
  if (code === -32000) return 'it ended'
  return 'the connection failed or broke'
}

const codeOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'code' in value ? value.code : undefined
