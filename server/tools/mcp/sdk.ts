// The official MCP client, loaded on the first connection, and its types that this folder uses.
import type {
  CallToolResult,
  Client,
  JsonSchemaValidator,
  Progress,
  Tool,
} from '@modelcontextprotocol/client'

/** Loaded only if MCP servers are configured, because it is large. */
export const loadSdk = async () => {
  const [client, stdio] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('@modelcontextprotocol/client/stdio'),
  ])
  return { ...client, ...stdio }
}

/** The modules of the MCP SDK that connections use. */
export type Sdk = Awaited<ReturnType<typeof loadSdk>>
/** The SDK's client of one connection. */
export type RemoteClient = Client
/** A tool as its server describes it. */
export type RemoteTool = Tool
/** The result of a tool as its server sends it. */
export type RemoteResult = CallToolResult
/** A progress notification of a server. */
export type RemoteProgress = Progress

/** The SDK's `getValidator`, loaded with the connection. */
export type SchemaCompiler = (schema: object) => JsonSchemaValidator<unknown>

/** Loads what checks the arguments of tools. */
export async function loadCompiler(): Promise<SchemaCompiler> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv')
  // The SDK requires a schema typed after its value, but servers send any JSON Schema.
  return (schema) => new AjvJsonSchemaValidator().getValidator<unknown>(schema as never)
}
