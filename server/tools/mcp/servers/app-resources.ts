// The documents of apps of a server: read only under addresses that its tools or its list of resources name, bounded, never stored.
import { createHash } from 'node:crypto'
import { appError } from '../../../errors.ts'
import {
  MAX_MCP_APP_BYTES,
  type McpAppCsp,
  type McpAppPermissions,
} from '../../../protocol/mcp-app.ts'
import { hasRequests, isAppType, requestsOf, toolAppOf } from '../app-metadata.ts'
import type { RemoteClient, RemoteTool } from '../sdk.ts'
import { CONNECT_TIMEOUT_MS } from '../timing.ts'

/** A document as its server sends it, with what it asks for. It is text from outside. */
export interface AppResource {
  html: string
  csp: McpAppCsp
  permissions: McpAppPermissions
  /** Of the document, in hexadecimal digits. */
  sha256: string
}

/**
 * Reads the document of an app. The transport limits what arrives to 10 MB.
 * @param tools those that the server listed last.
 * @throws AppError `mcp_app_unknown`, `mcp_app_type`, `mcp_app_too_large`, `mcp_resource_empty`, and the SDK's error.
 */
export async function readAppResource(
  client: RemoteClient,
  server: string,
  uri: string,
  tools: readonly RemoteTool[],
): Promise<AppResource> {
  const isOfTool = tools.some((tool) => toolAppOf(tool).uri === uri)
  const listed = isOfTool ? undefined : await findListed(client, uri)
  if (!isOfTool && listed === undefined) throw appError('mcp_app_unknown')
  const { contents } = await client.readResource(
    { uri },
    { timeout: CONNECT_TIMEOUT_MS, cacheMode: 'bypass' },
  )
  const content = contents.find((one) => one.uri === uri) ?? contents[0]
  if (content === undefined) throw appError('mcp_resource_empty', { server })
  if (!isAppType(content.mimeType)) throw appError('mcp_app_type')
  const bytes =
    'text' in content ? Buffer.from(content.text, 'utf8') : Buffer.from(content.blob, 'base64')
  if (bytes.length > MAX_MCP_APP_BYTES) throw appError('mcp_app_too_large')
  const meta = hasRequests(content._meta)
    ? content._meta
    : (listed ?? (await findListed(client, uri).catch(() => undefined)))?._meta
  return {
    html: bytes.toString('utf8'),
    ...requestsOf(meta),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}

/** The entry of the list of resources; undefined if there is none. */
async function findListed(client: RemoteClient, uri: string) {
  if (client.getServerCapabilities()?.resources === undefined) return undefined
  const { resources } = await client.listResources(undefined, { timeout: CONNECT_TIMEOUT_MS })
  return resources.find((resource) => resource.uri === uri)
}
