// One connection to an MCP server, with its tools as tools of NanoClaw.
import type { McpProblem } from '../../protocol/models/mcp.ts'
import type { ToolDefinition } from '../definition.ts'
import { toolAppOf } from './app-metadata.ts'
import { createMcpConnection, type McpConnection, type McpConnectionOptions } from './connection.ts'
import { defineMcpTool, type ToolEnvironment } from './tool.ts'

/** A connection with the server's tools as tools of NanoClaw. */
export interface ConnectedServer {
  readonly connection: McpConnection
  /** Returns a new array whenever the tools have changed. */
  tools(): readonly ToolDefinition[]
  /** The tool with this name at the server, for apps of the server; null if only models may call it, undefined if there is none. */
  appTool(name: string): ToolDefinition | null | undefined
  /** What was odd in the server's lists, for administrators. */
  problems(): readonly McpProblem[]
}

/** The options of a connection with tools. */
export interface ConnectedServerOptions
  extends Omit<McpConnectionOptions, 'onChange'>,
    Omit<ToolEnvironment, 'hasApps'> {}

const MAX_SHOWN = 200

/** The tools follow the server's list, each under the first name it got. Tools that cannot be defined are left out. */
export function connectServer({
  compile,
  prepareImage,
  ...options
}: ConnectedServerOptions): ConnectedServer {
  let tools: readonly ToolDefinition[] = []
  /** By the tool's own name; null for what only models may call. */
  let appTools: ReadonlyMap<string, ToolDefinition | null> = new Map()
  let defined: unknown
  let undefinable: readonly McpProblem[] = []
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
    const ofApps = new Map<string, ToolDefinition | null>()
    const leftOut: McpProblem[] = []
    for (const remote of connection.tools) {
      const { isForModels, isForApps } = toolAppOf(remote)
      const tool = defineMcpTool(
        connection,
        remote,
        { compile, prepareImage, hasApps: options.offersApps === true },
        options.settings.trust_hints === true,
      )
      if (!ofApps.has(remote.name)) ofApps.set(remote.name, isForApps ? tool : null)
      // Its server keeps it for its apps.
      if (!isForModels) continue
      if (tool !== null && !found.has(tool.name)) {
        found.set(tool.name, tool)
        continue
      }
      const problem = tool === null ? 'schema_too_large' : 'duplicate_name'
      leftOut.push({ kind: 'tool', name: remote.name.slice(0, MAX_SHOWN), problem })
    }
    appTools = ofApps
    undefinable = leftOut
    for (const { name, problem, fields } of problems())
      options.log('a tool of an MCP server is odd', {
        server: options.name,
        tool: name,
        problem,
        ...(fields === undefined ? {} : { fields }),
      })
    return [...found.values()]
  }
  const problems = (): readonly McpProblem[] => [...connection.problems, ...undefinable]
  return {
    connection,
    problems,
    tools() {
      connection.freshen()
      return tools
    },
    appTool(name) {
      connection.freshen()
      return appTools.get(name)
    },
  }
}
