// MCP servers: their configuration and their public state.
import { z } from 'zod'
import { ErrorParams } from '../error.ts'
import { isUriTemplate } from './uri-template.ts'

/** Contains no `__` and no trailing `_`: `__` separates server and tool in the names that models see. */
export const McpServerName = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-])){0,39}$/, {
    error: 'a name of up to 40 letters, digits, - and single _ inside it',
  })

/** One entry of `mcp_servers`, in the format of other MCP clients: a program to start, or a URL. */
export const McpServerSettings = z
  .strictObject({
    /** Some clients write it. Only `sse` matters: the other keys determine the transport. */
    type: z.enum(['stdio', 'http', 'streamable-http', 'sse']).optional(),
    command: z.string().min(1).max(4096).optional(),
    args: z.array(z.string().max(10_000)).max(200).optional(),
    /** Added to PATH, HOME, USER and similar variables. The program receives nothing else of the server's environment. */
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().min(1).max(4096).optional(),
    url: z.url({ protocol: /^https?$/, error: 'an http:// or https:// URL' }).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Whether hints of this server may lower the risk of its tools below `medium`. */
    trust_hints: z.boolean().optional(),
    /** In multi-user mode: names of the users who may use it, in addition to administrators. Default: everybody. */
    users: z.array(z.string().min(1).max(200)).max(10_000).optional(),
    /** For servers that people sign in to and whose authorization server does not register clients itself. */
    oauth: z
      .strictObject({
        client_id: z.string().min(1).max(2000).optional(),
        client_secret: z.string().min(1).max(2000).optional(),
        scope: z.string().min(1).max(2000).optional(),
      })
      .optional(),
  })
  .refine((server) => (server.command === undefined) !== (server.url === undefined), {
    error: 'either `command` (with `args`, `env`, `cwd`) or `url` (with `headers`)',
  })
export type McpServerSettings = z.infer<typeof McpServerSettings>

/**
 * The connection of an MCP server. `connecting`: an attempt is in progress; `waiting`: the last one failed and will be
 * retried.
 */
export const McpServerStatus = z.enum(['connecting', 'connected', 'waiting'])
export type McpServerStatus = z.infer<typeof McpServerStatus>

/**
 * Which generation of the protocol an MCP server speaks. `modern`: revision 2026-07-28 or later; `legacy`: an earlier
 * one, with a session.
 */
export const McpEra = z.enum(['modern', 'legacy'])
export type McpEra = z.infer<typeof McpEra>

/** Something odd in what an MCP server lists. Everything else of the server works. */
export const McpProblem = z
  .object({
    kind: z.enum(['tool', 'prompt', 'resource', 'template']),
    /** The name of the element, or its place in the list (`#3`). */
    name: z.string(),
    /**
     * All but `fields_ignored` left the element out. `unreadable`: it has no usable name or address. `schema_unusable`: its
     * arguments would not be an object. `schema_too_large`, `duplicate_name`: an earlier tool has the name. `too_many`: the
     * list is too long.
     */
    problem: z.enum([
      'unreadable',
      'schema_unusable',
      'schema_too_large',
      'duplicate_name',
      'too_many',
      'fields_ignored',
    ]),
    /** The fields of a wrong type, for `fields_ignored`. */
    fields: z.string().optional(),
  })
  .meta({ id: 'McpProblem' })
export type McpProblem = z.infer<typeof McpProblem>

/** A configured MCP server and its connection, as one user sees it. */
export const McpServer = z
  .object({
    name: z.string(),
    transport: z.enum(['stdio', 'http']),
    state: McpServerStatus,
    /** Whether each user has to sign in to it, and whether this user has. */
    auth: z.enum(['none', 'needed', 'connected']),
    /** Null before the first connection. */
    era: McpEra.nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string(), read_only: z.boolean() })),
    /** Why it is not connected, for a person. Never contains a path, a URL or a header. */
    error: z.string().nullable(),
    /** The machine-readable reason of `error`, as in error responses. */
    reason: z.string().nullable(),
    params: ErrorParams.nullable(),
  })
  .meta({ id: 'McpServer' })
export type McpServer = z.infer<typeof McpServer>

export const McpServerList = z.object({ servers: z.array(McpServer) }).meta({ id: 'McpServerList' })

/** Where to sign in to an MCP server. */
export const McpSignIn = z.object({ url: z.string() }).meta({ id: 'McpSignIn' })

/** What the authorization server added to the address to which it redirected the person. */
export const McpCallbackBody = z
  .object({
    state: z.string().min(1).max(500),
    code: z.string().max(5_000).optional(),
    iss: z.string().max(2_000).optional(),
    error: z.string().max(500).optional(),
  })
  .meta({ id: 'McpCallback' })

/** A prompt of an MCP server, which the page offers as a command. */
export const McpPrompt = z
  .object({
    server: z.string(),
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    arguments: z.array(
      z.object({ name: z.string(), description: z.string().optional(), required: z.boolean() }),
    ),
  })
  .meta({ id: 'McpPrompt' })
export type McpPrompt = z.infer<typeof McpPrompt>

export const McpPromptList = z.object({ prompts: z.array(McpPrompt) }).meta({ id: 'McpPromptList' })

/** The arguments of a prompt. */
export const McpPromptBody = z
  .object({
    arguments: z.record(z.string().max(200), z.string().max(100_000)).optional(),
  })
  .meta({ id: 'FillMcpPrompt' })

/** The text of a prompt with its arguments. It comes from outside, so the person sees it before it is sent. */
export const FilledMcpPrompt = z.object({ text: z.string() }).meta({ id: 'FilledMcpPrompt' })

/** A resource of an MCP server, which can be attached to a message. */
export const McpResource = z
  .object({
    server: z.string(),
    uri: z.string(),
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    mime: z.string().optional(),
    /** Bytes; absent if the server does not report them. */
    size: z.int().optional(),
  })
  .meta({ id: 'McpResource' })
export type McpResource = z.infer<typeof McpResource>

/** A template of an MCP server for resources whose addresses contain variables. */
export const McpResourceTemplate = z
  .object({
    server: z.string(),
    /** In the syntax of RFC 6570. */
    uri_template: z.string(),
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    mime: z.string().optional(),
    arguments: z.array(z.object({ name: z.string(), required: z.boolean() })),
  })
  .meta({ id: 'McpResourceTemplate' })
export type McpResourceTemplate = z.infer<typeof McpResourceTemplate>

export const McpResourceList = z
  .object({
    resources: z.array(McpResource),
    templates: z.array(McpResourceTemplate),
  })
  .meta({ id: 'McpResourceList' })

const ResourceUri = z.string().min(1).max(4_000)

/** The resource to read: its address, or a template with the values of its variables. */
export const McpResourceBody = z
  .union([
    z.strictObject({ uri: ResourceUri }),
    z.strictObject({
      uri_template: ResourceUri.refine(isUriTemplate, { error: 'a URI template as in RFC 6570' }),
      arguments: z.record(z.string().max(200), z.string().max(2_000)),
    }),
  ])
  .meta({ id: 'ReadMcpResource' })
