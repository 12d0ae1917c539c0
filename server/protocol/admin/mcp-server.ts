// MCP servers as administrators see, add, change and try them, on the wire.
import { z } from 'zod'
import { optional } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import {
  McpEra,
  McpProblem,
  McpServer,
  McpServerName,
  McpServerSettings,
  McpServerStatus,
} from '../models/mcp.ts'
import { RiskLevel } from '../runs/run-event.ts'

/** What administrators can set for a server. Programs to start can be set only in `config.yml`. */
const { url, trust_hints: trustHints, users, oauth } = McpServerSettings.shape

const Url = url
  .unwrap()
  .max(4_000)
  .refine((text) => URL.canParse(text) && new URL(text).username + new URL(text).password === '', {
    error: 'a URL without a password; send the password in a header',
  })

/** The rules of HTTP: names are tokens, and values are Latin-1 without line breaks. */
const Headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, { error: 'a header name' }),
    z
      .string()
      .max(8_000)
      .regex(/^[\t\x20-\x7e\xa0-\xff]*$/, { error: 'a header value without line breaks' }),
  )
  .refine((headers) => Object.keys(headers).length <= 50, { error: 'at most 50 headers' })

/** An MCP server that an administrator adds. `null` for an optional field means absent. */
export const CreateMcpServerBody = z
  .object({
    name: McpServerName,
    url: Url,
    headers: Headers.nullish(),
    trust_hints: trustHints.nullable(),
    users: users.nullable(),
    /** Without `client_secret`, the stored secret stays if `client_id` and address are unchanged. */
    oauth: oauth.nullable(),
    /** Default: true. */
    enabled: optional(z.boolean()),
  })
  .meta({ id: 'CreateMcpServer' })

/** Changes of an MCP server. `null` clears a field; an absent field stays unchanged. The name cannot change. */
export const PatchMcpServerBody = CreateMcpServerBody.omit({ name: true })
  .extend({
    url: optional(Url),
    /** Switches tools on or off, by their names as models see them; others stay as they are. */
    tools: optional(
      z
        .record(z.string().min(1).max(100), z.boolean())
        .refine((tools) => Object.keys(tools).length <= 500, { error: 'at most 500 tools' }),
    ),
  })
  .meta({ id: 'PatchMcpServer' })
export type PatchMcpServerBody = z.output<typeof PatchMcpServerBody>

/** A server to test: an existing one, unchanged or with these changes, or a new one. */
export const TestMcpServerBody = CreateMcpServerBody.omit({ enabled: true })
  .extend({ url: optional(Url) })
  .meta({ id: 'TestMcpServer' })

/**
 * The end of what a program printed on its standard error, without secrets: often it says there what it needs. Null if it
 * printed nothing, and for servers with a URL.
 */
const ProgramOutput = z.string().nullable()

/** The result of one test connection to an MCP server. */
export const McpServerTest = z
  .object({
    state: z.enum(['connected', 'sign_in_needed', 'failed']),
    /** Null unless the connection succeeded. */
    era: McpEra.nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string(), risk: RiskLevel })),
    /** Why the connection failed, for a person. Never contains a URL or a header. */
    error: z.string().nullable(),
    reason: z.string().nullable(),
    params: ErrorParams.nullable(),
    /** What was odd in the server's list of tools. */
    problems: z.array(McpProblem),
    output: ProgramOutput,
  })
  .meta({ id: 'McpServerTest' })
export type McpServerTest = z.infer<typeof McpServerTest>

/** A tool that describes itself differently since `tools.risk` lowered its risk level: its own level applies. */
const ChangedMcpTool = z.object({
  tool: z.string(),
  /** The level that would apply. */
  risk: RiskLevel,
  /** Identifies this description. */
  key: z.string(),
  description: z.string(),
  /** The schema of its arguments as JSON, perhaps cut. */
  schema: z.string(),
  since: z.iso.datetime(),
})

/** Which description of a tool to accept, as `changed_tools` lists it. */
export const AcceptMcpToolBody = z
  .object({ tool: z.string().max(200), key: z.string().max(200) })
  .meta({ id: 'AcceptMcpTool' })
export type AcceptMcpToolBody = z.output<typeof AcceptMcpToolBody>

/** An MCP server as administrators see it: with who may use it, and without its secrets. */
export const AdminMcpServer = z
  .object({
    ...McpServer.shape,
    /** All its tools. One that is not `enabled` is neither sent to models nor called. */
    tools: z.array(
      McpServer.shape.tools.element.extend({
        enabled: z.boolean(),
        /** Estimated tokens that it takes of each request in which it is listed. */
        tokens: z.int(),
      }),
    ),
    /** `off`: an administrator switched it off. */
    state: z.enum([...McpServerStatus.options, 'off']),
    /** The users that may use it; null for everybody. */
    users: z.array(z.string()).nullable(),
    /** Groups that restrict MCP servers and permit this one. */
    groups: z.array(z.string()),
    /** From `config.yml` (only its switch can be changed here) or stored by an administrator. */
    source: z.enum(['config', 'store']),
    /** The address of a stored server. */
    url: z.string().nullable(),
    /** The names of the headers of a stored server; their values are never returned. */
    headers: z.array(z.string()),
    trust_hints: z.boolean(),
    /** The OAuth client of a stored server, if one is set; its secret is never returned. */
    oauth: z
      .object({
        client_id: z.string().nullable(),
        has_secret: z.boolean(),
        scope: z.string().nullable(),
      })
      .nullable(),
    /** The stored settings can no longer be decrypted: the address and the headers must be entered again. */
    needs_settings: z.boolean(),
    /** What was odd in the server's lists: left out or mended. */
    problems: z.array(McpProblem),
    output: ProgramOutput,
    /** Estimated tokens that its enabled tools take of each request, if all are listed. */
    tool_tokens: z.int(),
    changed_tools: z.array(ChangedMcpTool),
  })
  .meta({ id: 'AdminMcpServer' })
export type AdminMcpServer = z.infer<typeof AdminMcpServer>
