// Apps of MCP servers on the wire: documents that a server shows beside the results of its tools (extension MCP Apps, 2026-01-26).
import { z } from 'zod'
import { Timestamp } from './envelope.ts'
import { CallId } from './ids.ts'
import { fieldsOf, parseJson } from './read-json.ts'

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

/** What a person has allowed the apps of a server, newest first. */
export const McpAppDomainList = z
  .object({ items: z.array(z.object({ domains: z.array(z.string()), allowed_at: Timestamp })) })
  .meta({ id: 'McpAppDomainList' })
export type McpAppDomainList = z.infer<typeof McpAppDomainList>

/** The origins that an app would reach if it were allowed, each once, in order. */
export const domainsOf = ({ connectDomains = [], resourceDomains = [] }: McpAppCsp): string[] =>
  sortedDomains([...connectDomains, ...resourceDomains])

/** Each once, in order: the form in which lists are compared. */
export const sortedDomains = (domains: readonly string[]): string[] =>
  [...new Set(domains.map((domain) => domain.toLowerCase()))].sort()

/** Maximum characters of what an app tells the model of its state. */
export const MAX_MCP_APP_CONTEXT = 20_000
/** Maximum characters of the arguments of a call, as JSON text. */
const MAX_ARGUMENTS = 200_000

/** A call of an app. */
export const McpAppCallBody = z
  .object({
    /** The tool's own name at the server of the app. */
    name: z.string().min(1).max(500),
    arguments: z
      .record(z.string(), z.unknown())
      .refine((given) => JSON.stringify(given).length <= MAX_ARGUMENTS, {
        error: `at most ${MAX_ARGUMENTS} characters as JSON text`,
      })
      .default({}),
  })
  .meta({ id: 'CallFromMcpApp' })

/** A result as the MCP server sent it. */
export const McpAppResult = z.record(z.string(), z.unknown())
export type McpAppResult = z.infer<typeof McpAppResult>

/** The result of a call. */
export const McpAppCallDone = z.object({ result: McpAppResult }).meta({ id: 'McpAppCallDone' })

/** A call that waits for a person. */
export const McpAppCallWaiting = z
  .object({ approval_id: z.string(), id_ref: CallId })
  .meta({ id: 'McpAppCallWaiting' })
export type McpAppCallWaiting = z.infer<typeof McpAppCallWaiting>

/** What has become of a call. `void`: it was withdrawn, and did not run. */
export const McpAppCall = z
  .object({
    state: z.enum(['waiting', 'running', 'done', 'void']),
    approval_id: z.string().nullable(),
    result: McpAppResult.nullable(),
  })
  .meta({ id: 'McpAppCall' })
export type McpAppCall = z.infer<typeof McpAppCall>

/** What an app tells the model of its state; '' removes it. */
export const McpAppContextBody = z
  .object({ text: z.string().max(MAX_MCP_APP_CONTEXT) })
  .meta({ id: 'McpAppContext' })

/** A result for an app: as the server sent it, or, of a long one or one that did not run, what a model would read. */
export function appResultOf(content: string, sent: unknown): McpAppResult {
  const whole = fieldsOf(sent)
  if (Array.isArray(whole.content)) return { ...whole }
  const { success, data, error } = fieldsOf(parseJson(content))
  const value = success === true ? data : error
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return { content: [{ type: 'text', text }], isError: success !== true }
}
