// What MCP servers say about apps (extension MCP Apps, 2026-01-26): which tools have one, who may call a tool, what an app asks for.
import { asRecord } from '../../lib/records.ts'
import {
  MAX_MCP_APP_DOMAINS,
  MCP_APP_MIME,
  type McpAppCsp,
  McpAppDomain,
  type McpAppPermissions,
  McpAppUri,
} from '../../protocol/mcp-app.ts'
import type { RemoteTool } from './sdk.ts'

/** Names the extension to servers, so that they offer tools with apps. */
export const APP_EXTENSION: Record<string, { mimeTypes: string[] }> = {
  'io.modelcontextprotocol/ui': { mimeTypes: [MCP_APP_MIME] },
}

/** What a tool says about apps. */
export interface ToolApp {
  /** The document that shows its results; null if there is none. */
  uri: string | null
  /** Whether models are offered the tool. */
  isForModels: boolean
  /** Whether apps of the same server may call it. */
  isForApps: boolean
}

/** Reads it from the metadata of a tool. What is odd counts as absent. */
export function toolAppOf({ _meta: meta }: Pick<RemoteTool, '_meta'>): ToolApp {
  const ui = asRecord(meta?.ui)
  // The flat name is from before the extension had a version.
  const uri = McpAppUri.safeParse(ui?.resourceUri ?? meta?.['ui/resourceUri'])
  const visibility: readonly unknown[] = Array.isArray(ui?.visibility)
    ? ui.visibility
    : ui === undefined
      ? ['model']
      : ['model', 'app']
  return {
    uri: uri.success ? uri.data : null,
    isForModels: visibility.includes('model'),
    isForApps: visibility.includes('app'),
  }
}

/** Whether a type is that of apps, however it is written. */
export const isAppType = (mime: string | undefined): boolean =>
  /^text\/html\s*;\s*profile\s*=\s*"?mcp-app"?\s*$/i.test(mime?.trim() ?? '')

const CSP_KEYS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const
const PERMISSION_KEYS = ['camera', 'microphone', 'geolocation', 'clipboardWrite'] as const

/** What an app asks for, from the metadata of its resource. Origins that could not be allowed are left out. */
export function requestsOf(meta: unknown): { csp: McpAppCsp; permissions: McpAppPermissions } {
  const ui = asRecord(asRecord(meta)?.ui)
  const asked = asRecord(ui?.csp)
  const csp: McpAppCsp = {}
  for (const key of CSP_KEYS) {
    const given = asked?.[key]
    if (!Array.isArray(given)) continue
    const domains = given.slice(0, 10 * MAX_MCP_APP_DOMAINS).flatMap((one: unknown) => {
      const read = McpAppDomain.safeParse(one)
      return read.success ? [read.data] : []
    })
    csp[key] = [...new Set(domains)].slice(0, MAX_MCP_APP_DOMAINS)
  }
  const wanted = asRecord(ui?.permissions)
  const permissions: McpAppPermissions = {}
  for (const key of PERMISSION_KEYS)
    if (asRecord(wanted?.[key]) !== undefined) permissions[key] = {}
  return { csp, permissions }
}

/** Whether the metadata says anything about apps. */
export const hasRequests = (meta: unknown): boolean => asRecord(asRecord(meta)?.ui) !== undefined
