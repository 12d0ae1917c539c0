// Apps of MCP servers on the wire: documents that a server shows beside the results of its tools (extension MCP Apps, 2026-01-26).
import { z } from 'zod'

/** The type of the only documents that are shown, as servers and clients name it to each other. */
export const MCP_APP_MIME = 'text/html;profile=mcp-app'

/** The version of the messages between the page and an app. */
export const MCP_APP_PROTOCOL = '2026-01-26'

/** Maximum bytes of a document. */
export const MAX_MCP_APP_BYTES = 2 * 1024 * 1024
/** Origins of one kind that an app can name. */
export const MAX_MCP_APP_DOMAINS = 50

const DOMAIN =
  /^(?:https|wss):\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/i

/** An origin that an app may name: encrypted, with a host, with at most one `*.` in front of it, and nothing behind it. */
export const McpAppDomain = z.string().max(300).regex(DOMAIN, {
  error: 'an origin such as https://example.org, wss://example.org or https://*.example.org',
})

const Domains = z.array(McpAppDomain).max(MAX_MCP_APP_DOMAINS)

/** What an app asks for, in the words of the extension. Of each kind only origins that could be allowed. */
export const McpAppCsp = z
  .strictObject({
    connectDomains: Domains.optional(),
    resourceDomains: Domains.optional(),
    frameDomains: Domains.optional(),
    baseUriDomains: Domains.optional(),
  })
  .meta({ id: 'McpAppCsp' })
export type McpAppCsp = z.infer<typeof McpAppCsp>

const Asked = z.strictObject({})

/** Device features that an app would like to use. None is given. */
export const McpAppPermissions = z
  .object({
    camera: Asked.optional(),
    microphone: Asked.optional(),
    geolocation: Asked.optional(),
    clipboardWrite: Asked.optional(),
  })
  .meta({ id: 'McpAppPermissions' })
export type McpAppPermissions = z.infer<typeof McpAppPermissions>

/** An address of a document, as tools and lists of resources name it. */
export const McpAppUri = z
  .string()
  .max(4_000)
  .regex(/^ui:\/\/[^\s\p{Cc}]/u, { error: 'an address that begins with ui://' })

/** Which app a result has: the tool has its own name at the server. */
export const McpAppReference = z.object({ server: z.string(), uri: z.string(), tool: z.string() })
export type McpAppReference = z.infer<typeof McpAppReference>

/** The document of an app, with what it asks for and what of it is allowed. */
export const McpApp = z
  .object({
    html: z.string(),
    csp: McpAppCsp,
    permissions: McpAppPermissions,
    /** Of the document. */
    sha256: z.string(),
    /** Whether the user has allowed this server these domains. False if it names none. */
    domains_allowed: z.boolean(),
    /** The address for its frame, with what is allowed; null if the server has no origin for apps. */
    url: z.string().nullable(),
  })
  .meta({ id: 'McpApp' })
export type McpApp = z.infer<typeof McpApp>

/** The domains that a person allows the apps of a server, or no longer. */
export const McpAppDomainsBody = z
  .object({
    domains: z
      .array(McpAppDomain)
      .min(1)
      .max(2 * MAX_MCP_APP_DOMAINS),
    allowed: z.boolean(),
  })
  .meta({ id: 'AllowMcpAppDomains' })

/** What is allowed now. */
export const McpAppDomains = z
  .object({ domains: z.array(z.string()), allowed: z.boolean() })
  .meta({ id: 'McpAppDomains' })

/** The origins that an app would reach if it were allowed, each once, in order. */
export const domainsOf = ({ connectDomains = [], resourceDomains = [] }: McpAppCsp): string[] =>
  sortedDomains([...connectDomains, ...resourceDomains])

/** Each once, in order: the form in which lists are compared. */
export const sortedDomains = (domains: readonly string[]): string[] =>
  [...new Set(domains.map((domain) => domain.toLowerCase()))].sort()
