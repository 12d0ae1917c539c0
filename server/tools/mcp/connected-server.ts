// One connection to an MCP server, with its tools as tools of NanoClaw.
import type { ToolDefinition } from '../definition.ts'
import { createMcpConnection, type McpConnection, type McpConnectionOptions } from './connection.ts'
import { defineMcpTool, type SchemaCompiler } from './tool.ts'

/** A connection with the server's tools as tools of NanoClaw. */
export interface ConnectedServer {
  readonly connection: McpConnection
  /** Returns a new array whenever the tools have changed. */
  tools(): readonly ToolDefinition[]
}

/** The options of a connection with tools. */
export interface ConnectedServerOptions extends Omit<McpConnectionOptions, 'onChange'> {
  compile: SchemaCompiler
}

/** The tools follow the server's list, each under the first name it got. Tools that cannot be defined are left out. */
export function connectServer({ compile, ...options }: ConnectedServerOptions): ConnectedServer {
  let tools: readonly ToolDefinition[] = []
  let defined: unknown
  const connection = createMcpConnection({
    ...options,
    onChange() {
      if (defined === connection.tools) return
      defined = connection.tools
      tools = define()
    },
  })
  const define = (): readonly ToolDefinition[] => {
    const found = new Map<string, ToolDefinition>()
    for (const remote of connection.tools) {
      const tool = defineMcpTool(connection, remote, compile, options.settings.trust_hints === true)
      if (tool !== null && !found.has(tool.name)) found.set(tool.name, tool)
      else
        options.log('a tool of an MCP server was left out', {
          server: options.name,
          tool: remote.name,
        })
    }
    return [...found.values()]
  }
  return {
    connection,
    tools() {
      connection.freshen()
      return tools
    },
  }
}
