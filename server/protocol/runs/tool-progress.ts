// Progress of a tool call that has no result yet: shown live, never stored, never replayed. The page parses it with this
// schema, which therefore uses the small build of zod.
import { z } from 'zod/mini'

/** A person's decision on a call. */
export const ApprovalDecision = z.enum(['approve', 'reject'])

/**
 * The state of one sub-agent, as a person sees it: brief while it works, more in the artifact of the result. Long texts are
 * truncated.
 */
export const SubAgentView = z.object({
  name: z.string(),
  state: z.enum(['waiting', 'working', 'done', 'failed']),
  /** The end of its latest text. */
  text: z.string(),
  /** Its tool calls, in order. */
  calls: z.array(
    z.object({
      name: z.string(),
      arguments: z.string(),
      state: z.enum(['running', 'done', 'failed']),
      /** The grant that let the call through. */
      grant_id: z.optional(z.string()),
    }),
  ),
})
export type SubAgentView = z.infer<typeof SubAgentView>

/** What a tool may report about its own call. */
export const ToolProgress = z.discriminatedUnion('kind', [
  /** A program is starting or running. */
  z.object({ kind: z.literal('state'), state: z.enum(['starting', 'running']) }),
  /** The output of a program since the last event. */
  z.object({
    kind: z.literal('output'),
    stream: z.enum(['stdout', 'stderr']),
    text: z.string(),
  }),
  /** A log line from an MCP server. */
  z.object({ kind: z.literal('text'), text: z.string() }),
  /** The completed share of the work; `total` if known. */
  z.object({
    kind: z.literal('count'),
    done: z.int(),
    total: z.optional(z.int()),
    unit: z.optional(z.enum(['files', 'matches', 'pages'])),
  }),
  /** The current state of all sub-agents of the call. */
  z.object({ kind: z.literal('agents'), agents: z.array(SubAgentView) }),
  /** The call has begun, and this app of an MCP server will show its result. */
  z.object({
    kind: z.literal('app'),
    app: z.object({ server: z.string(), uri: z.string(), tool: z.string() }),
  }),
])
export type ToolProgress = z.infer<typeof ToolProgress>

/** A person decided on the approval request of the call. Reported by the server, never by a tool. */
const ApprovalDecided = z.object({
  kind: z.literal('decided'),
  decision: z.enum([...ApprovalDecision.options, 'expire']),
})

/** A person answered a question of an MCP server; `input` is the `id_ref` of the question. */
const InputAnswered = z.object({
  kind: z.literal('input_answered'),
  input: z.string(),
  action: z.enum(['accept', 'decline', 'cancel']),
})

/**
 * The progress of a tool call, including decisions on it: everything that `tool_progress` may contain. Clients ignore
 * unknown kinds.
 */
export const CallProgress = z.discriminatedUnion('kind', [
  ...ToolProgress.def.options,
  ApprovalDecided,
  InputAnswered,
])
export type CallProgress = z.infer<typeof CallProgress>
