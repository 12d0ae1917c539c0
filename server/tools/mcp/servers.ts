// All configured MCP servers: their connections, their tools, and their state for the page.
import type { McpServer, McpServerSettings } from '../../protocol/mcp.ts'
import type { ToolDefinition } from '../definition.ts'
import { createMcpConnection } from './connection.ts'
import { defineMcpTool, type SchemaCompiler } from './tool.ts'

export interface McpServers {
  /** The state of each server, in the order of the configuration. */
  list(): McpServer[]
  /** The tools of all connected servers; a new array whenever they have changed. */
  tools(): readonly ToolDefinition[]
  /** The names of the tools of these servers, for conversations that disabled them. */
  toolNamesOf(servers: readonly string[]): ReadonlySet<string>
  /** Resolves when each server was tried once, or after ten seconds; tools of slower servers are added later. */
  readonly ready: Promise<void>
  /** Closes every connection and child process. */
  close(): Promise<void>
}

const READY_MS = 10_000

export interface McpServersOptions {
  servers: Readonly<Record<string, McpServerSettings>>
  log(message: string, detail: Record<string, unknown>): void
  /** For tests: the pause before a broken server is tried again, in milliseconds. */
  firstPauseMs?: number
}

/**
 * Connects to every server in the background. Returns at once, so that an unresponsive server does not delay the start.
 */
export function createMcpServers(options: McpServersOptions): McpServers {
  let tools: readonly ToolDefinition[] = []
  const connectedServers = Object.entries(options.servers).map(([name, settings]) => {
    const registered = new Map<string, ToolDefinition>()
    const connection = createMcpConnection({
      name,
      settings,
      log: options.log,
      onChange: () => publish(),
      ...(options.firstPauseMs === undefined ? {} : { firstPauseMs: options.firstPauseMs }),
    })
    let published: unknown
    const publish = (): void => {
      if (published === connection.tools || compile === undefined) return
      published = connection.tools
      registered.clear()
      for (const remote of connection.tools) {
        const tool = defineMcpTool(connection, remote, compile)
        if (tool === null || registered.has(tool.name)) {
          options.log('a tool of an MCP server was left out', { server: name, tool: remote.name })
          continue
        }
        registered.set(tool.name, tool)
      }
      tools = connectedServers.flatMap((connected) => [...connected.registered.values()])
    }
    return { name, settings, connection, registered }
  })

  let isClosed = false
  let compile: SchemaCompiler | undefined
  const started = connectedServers.length === 0 ? Promise.resolve() : start()

  async function start(): Promise<void> {
    const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv')
    // The SDK wants a schema typed after its value; servers send any JSON Schema.
    compile = (schema) => new AjvJsonSchemaValidator().getValidator<unknown>(schema as never)
    if (isClosed) return
    const tried = Promise.all(connectedServers.map(({ connection }) => connection.open()))
    await Promise.race([tried, after(READY_MS)])
  }

  return {
    ready: started,
    tools() {
      for (const { connection } of connectedServers) connection.freshen()
      return tools
    },
    list: () =>
      connectedServers.map(({ name, settings, connection, registered }) => ({
        name,
        transport: settings.command !== undefined ? 'stdio' : 'http',
        status: connection.status,
        era: connection.era,
        error: connection.error?.message ?? null,
        reason: connection.error?.reason ?? null,
        params: connection.error?.params ?? null,
        tools: [...registered.values()].map((tool) => ({
          name: tool.name,
          description: tool.description,
          read_only: tool.riskLevel === 'low',
        })),
      })),
    toolNamesOf(servers) {
      const wanted = new Set(servers)
      return new Set(
        connectedServers.flatMap(({ name, registered }) =>
          wanted.has(name) ? [...registered.keys()] : [],
        ),
      )
    },
    async close() {
      isClosed = true
      await Promise.all(connectedServers.map(({ connection }) => connection.close()))
    },
  }
}

const after = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
