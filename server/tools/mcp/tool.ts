// A tool of an MCP server as a `ToolDefinition`: name, schema, checked arguments, bounded result.
import { createHash } from 'node:crypto'
import type { JsonSchemaValidator } from '@modelcontextprotocol/client'
import { webAddress } from '../../lib/web-addresses.ts'
import type { RiskLevel } from '../../protocol/runs/run-event.ts'
import { fail, readArguments, type ToolDefinition } from '../definition.ts'
import type { PrepareImage } from '../result-image.ts'
import { toolAppOf } from './app-metadata.ts'
import type { McpConnection } from './connection.ts'
import type { RemoteTool, SchemaCompiler } from './sdk.ts'
import { fittingArguments } from './tool/fitting-arguments.ts'
import { performCall } from './tool/interactive-call.ts'
import { readResult } from './tool/read-result.ts'
import { safeSchema } from './tool/safe-schema.ts'

const TIMEOUT_MS = 120_000
const MAX_NAME = 64
const MAX_DESCRIPTION = 2_000
const MAX_SCHEMA = 64 * 1024

/**
 * The name under which a model calls a remote tool: `mcp__server__tool`, within the characters and length (64) that
 * providers accept. A few digits of a hash keep shortened or replaced names distinct.
 */
export function mcpToolName(server: string, tool: string): string {
  const plain = `mcp__${server}__${tool}`
  const clean = plain.replace(/[^A-Za-z0-9_-]/g, '_')
  if (clean === plain && clean.length <= MAX_NAME) return clean
  const mark = createHash('sha256').update(plain).digest('hex').slice(0, 8)
  return `${clean.slice(0, MAX_NAME - 9)}_${mark}`
}

/** What tools need besides their connection. */
export interface ToolEnvironment {
  compile: SchemaCompiler
  prepareImage: PrepareImage
  /** Whether results name the app that shows them. */
  hasApps?: boolean | undefined
}

/**
 * Converts a remote tool to a `ToolDefinition`, which is always untrusted. Null if its schema is too large for a prompt.
 * @param trustHints whether the server's hints may lower the risk and permit repeating a call after a restart.
 */
export function defineMcpTool(
  connection: McpConnection,
  remote: RemoteTool,
  { compile, prepareImage, hasApps = false }: ToolEnvironment,
  trustHints = false,
): ToolDefinition | null {
  const parameters = parametersOf(remote)
  if (JSON.stringify(parameters).length > MAX_SCHEMA) return null
  const { annotations } = remote
  const riskLevel = riskOf(annotations, trustHints)
  const name = mcpToolName(connection.server, remote.name)
  const { uri } = toolAppOf(remote)
  const app = hasApps && uri !== null ? { server: connection.server, uri, tool: remote.name } : null
  const grantKey = `${name}@${fingerprintOf(remote)}`
  /** Null if only the server can check the arguments. */
  let validate: JsonSchemaValidator<unknown> | null | undefined
  return {
    name,
    aliases: [],
    description: describe(connection.server, remote),
    category: 'mcp',
    riskLevel,
    cacheable: false,
    grantKey,
    repeatable:
      trustHints && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true),
    untrusted: true,
    namesAddresses: true,
    changesProject: false,
    timeoutMs: TIMEOUT_MS,
    ...(app === null ? {} : { app }),
    parameters,
    parse(rawArguments) {
      const read = readArguments(rawArguments)
      if (!read.ok) return read
      try {
        const schema = validate === undefined ? safeSchema(remote.inputSchema) : null
        if (validate === undefined) validate = schema === null ? null : compile(schema)
      } catch {
        // A schema that does not compile is the server's fault.
        validate = null
      }
      const checked = fittingArguments(read.value, remote.inputSchema, validate)
      if (!checked.ok)
        return { ok: false, error: `Invalid arguments: ${checked.error.slice(0, 1000)}` }
      const input = checked.value
      return {
        ok: true,
        input: {
          value: input,
          riskLevel,
          // The effect of one call is often what the next one works on: pages, files, entries of a memory.
          orderKey: `mcp ${connection.server}`,
          isOrderShared: annotations?.readOnlyHint === true,
          addresses: addressesOf(input),
          async preview() {
            return {
              display: `${remote.title ?? remote.name} on the MCP server '${connection.server}'`,
              display_code: 'mcp',
              display_params: { tool: remote.title ?? remote.name, server: connection.server },
              grant_key: grantKey,
            }
          },
          async run(context) {
            const isForPerson = app !== null && context.isFromApp !== true
            // The app can show itself while the call runs.
            if (isForPerson) context.progress({ kind: 'app', app })
            const response = await performCall(connection, { tool: remote, input }, context)
            return response.ok
              ? await readResult(
                  response.result,
                  (bytes) => prepareImage(bytes, context.userId),
                  // The app that calls shows the result itself.
                  context.isFromApp === true ? 'caller' : app,
                )
              : fail(response.error)
          },
        },
      }
    },
  }
}

/** How an address begins. URL parsing ignores white space and control characters there. */
const SCHEME = /^[\s\p{Cc}]*h[\s\p{Cc}]*t[\s\p{Cc}]*t[\s\p{Cc}]*p[\s\p{Cc}]*(?:s[\s\p{Cc}]*)?:/iu

/** The texts in the arguments that are addresses on the web, at any depth. */
function addressesOf(input: unknown): string[] {
  const found: string[] = []
  const left: unknown[] = [input]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') {
      const address = webAddress(value.trim())
      // Too long or broken for this server, but perhaps not for that one.
      if (address !== null || SCHEME.test(value)) found.push(address ?? value)
    } else if (Array.isArray(value)) left.push(...value)
    // Names of fields are texts, too, and whoever writes the arguments chooses them.
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) left.push(name, inner)
  }
  return found
}

/** The risk level by the tool's hints. A hint may always raise it: `high` for tools that may destroy something. */
function riskOf(hints: RemoteTool['annotations'], trustHints: boolean): RiskLevel {
  if (hints?.destructiveHint === true && hints.readOnlyHint !== true) return 'high'
  return trustHints && hints?.readOnlyHint === true ? 'low' : 'medium'
}

/** What a person approved when they granted the tool. If any of it changes, the tool needs approval again. */
const fingerprintOf = ({ title, description, inputSchema, annotations }: RemoteTool): string =>
  createHash('sha256')
    .update(JSON.stringify([title, description, inputSchema, annotations]))
    .digest('hex')
    .slice(0, 16)

function parametersOf(remote: RemoteTool): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = remote.inputSchema
  return { ...schema, type: 'object', properties: schema.properties ?? {} }
}

function describe(server: string, remote: RemoteTool): string {
  const text = remote.description ?? remote.title ?? remote.name
  return `[MCP server '${server}'] ${text}`.slice(0, MAX_DESCRIPTION)
}
