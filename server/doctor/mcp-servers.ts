// The MCP servers as the doctor sees them: those of a running server, or after one attempt to connect to each.
import pLimit from 'p-limit'
import type { Config } from '../config/schema.ts'
import { readResultImage } from '../files/images.ts'
import type { DescribedFailure } from '../protocol/failures/stored.ts'
import type { UserId } from '../protocol/ids.ts'
import type { McpServer } from '../protocol/models/mcp.ts'
import { loadCompiler } from '../tools/mcp/sdk.ts'
import type { McpServers } from '../tools/mcp/servers.ts'
import { tryServer } from '../tools/mcp/try-server.ts'
import type { CheckedMcpServer } from './check-mcp.ts'

const TRIED_AT_ONCE = 3
const TRY_MS = 60_000

/** The enabled servers, as this administrator reaches them. */
export async function runningMcpServers(
  mcp: Pick<McpServers, 'prepare' | 'listAll'>,
  userId: UserId,
): Promise<CheckedMcpServer[]> {
  await mcp.prepare(userId)
  return mcp.listAll(userId).map(({ name, state, auth, tools, output, ...server }) => ({
    name,
    // While it is tried again, what was wrong before still is.
    state:
      auth === 'needed'
        ? 'sign_in_needed'
        : state === 'connecting' && server.error === null
          ? state
          : state === 'connected'
            ? state
            : 'failed',
    tools: tools.length,
    failure: failureOf(server),
    output,
  }))
}

const failureOf = ({
  error,
  reason,
  params,
}: Pick<McpServer, 'error' | 'reason' | 'params'>): DescribedFailure | null =>
  error === null || reason === null
    ? null
    : { message: error, reason, ...(params === null ? {} : { params }) }

/** Connects once to each server of the configuration. Servers that administrators added are seen only by a running server. */
export async function tryMcpServers({ mcp_servers: servers }: Config): Promise<CheckedMcpServer[]> {
  if (Object.keys(servers).length === 0) return []
  const slot = pLimit(TRIED_AT_ONCE)
  const compile = await loadCompiler()
  return await Promise.all(
    Object.entries(servers).map(([name, settings]) =>
      slot(async () => {
        const signal = AbortSignal.timeout(TRY_MS)
        const { state, tools, output, ...tried } = await tryServer(
          {
            name,
            settings,
            compile,
            prepareImage: readResultImage,
            log: () => undefined,
            // The output of commands is redacted as a whole.
            redact: (text) => text,
          },
          signal,
        )
        return { name, state, tools: tools.length, failure: failureOf(tried), output }
      }),
    ),
  )
}
