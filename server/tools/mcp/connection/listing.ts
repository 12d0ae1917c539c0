// The list of a server's tools, and how long it may be used.
import { z } from 'zod'
import type { McpProblem } from '../../../protocol/models/mcp.ts'
import type { RemoteClient, RemoteTool } from '../sdk.ts'
import { CONNECT_TIMEOUT_MS } from '../timing.ts'

const MAX_TOOLS = 200
/** Maximum pages of one list. A server with more is considered faulty. */
export const MAX_PAGES = 16
const SHORTEST_TTL_MS = 30_000
const MAX_SHOWN = 200

/** The tools of a server as it listed them last. */
export interface ToolListing {
  readonly tools: readonly RemoteTool[]
  /** When to read the list again, in milliseconds as of `Date.now`; infinite if the server does not say. */
  readonly staleAt: number
  /** Whether tools beyond the maximum were left out. */
  readonly problems: readonly McpProblem[]
}

export const NOTHING_LISTED: ToolListing = {
  tools: [],
  staleAt: Number.POSITIVE_INFINITY,
  problems: [],
}

/** In revision 2026-07-28, lists say for how many milliseconds they are valid. */
const Freshness = z.object({ ttlMs: z.number().nonnegative() })

/**
 * Lists the tools of a server: at most 200, sorted by name so that the same tools produce the same bytes; none if it offers
 * none. The SDK leaves out tools whose `x-mcp-header` declarations are invalid.
 */
export async function listTools(client: RemoteClient): Promise<ToolListing> {
  if (client.getServerCapabilities()?.tools === undefined) return NOTHING_LISTED
  const listed = await client.listTools(undefined, {
    cacheMode: 'refresh',
    timeout: CONNECT_TIMEOUT_MS,
  })
  const freshness = Freshness.safeParse(listed)
  return {
    tools: listed.tools
      .slice(0, MAX_TOOLS)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    problems: listed.tools
      .slice(MAX_TOOLS, MAX_TOOLS + 1)
      .map(({ name }) => ({ kind: 'tool', name: name.slice(0, MAX_SHOWN), problem: 'too_many' })),
    staleAt: freshness.success
      ? Date.now() + Math.max(freshness.data.ttlMs, SHORTEST_TTL_MS)
      : Number.POSITIVE_INFINITY,
  }
}
