// Live news of a tool call that has no result yet: shown while it lasts, never stored, never replayed.
// The page parses this with the schema itself, so it is written with the small build of zod.
import { z } from 'zod/mini'

/** A person's decision on a call. */
export const ApprovalDecision = z.enum(['approve', 'reject'])

/** What a person sees of one sub-agent: little while it works, more in the artifact of the result. Long texts are cut. */
export const SubAgentView = z.object({
  name: z.string(),
  state: z.enum(['waiting', 'working', 'done', 'failed']),
  /** The end of what it last wrote. */
  text: z.string(),
  /** Its tool calls, in order. */
  calls: z.array(
    z.object({
      name: z.string(),
      arguments: z.string(),
      state: z.enum(['running', 'done', 'failed']),
    }),
  ),
})
export type SubAgentView = z.infer<typeof SubAgentView>

/** What a tool may report of its own call. */
export const ToolProgress = z.discriminatedUnion('kind', [
  /** A program is being started, or runs. */
  z.object({ kind: z.literal('state'), state: z.enum(['starting', 'running']) }),
  /** What a program has written since the last event. */
  z.object({
    kind: z.literal('output'),
    stream: z.enum(['stdout', 'stderr']),
    text: z.string(),
  }),
  /** A line that an MCP server wrote about its work. */
  z.object({ kind: z.literal('text'), text: z.string() }),
  /** Parts of the work that are done. */
  z.object({ kind: z.literal('count'), done: z.int(), total: z.int() }),
  /** All sub-agents of the call, as they stand now. */
  z.object({ kind: z.literal('agents'), agents: z.array(SubAgentView) }),
])
export type ToolProgress = z.infer<typeof ToolProgress>

/** A person decided on the approval request of the call; only the server itself reports this. */
const ApprovalDecided = z.object({ kind: z.literal('decided'), decision: ApprovalDecision })

/** Everything that `tool_progress` may carry. Clients ignore kinds that they do not know. */
export const CallProgress = z.discriminatedUnion('kind', [
  ...ToolProgress.def.options,
  ApprovalDecided,
])
export type CallProgress = z.infer<typeof CallProgress>
