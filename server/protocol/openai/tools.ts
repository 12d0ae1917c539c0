// Tools that programs offer in their requests, in the forms of OpenAI's two APIs; programs send kinds that a server may not know.
import { z } from 'zod'
import { optional } from '../envelope.ts'
import { ToolParameters } from '../runs/answer-format.ts'

/** The maximum number of tools, and of tools in a namespace, in one request. */
export const MAX_CLIENT_TOOLS = 128
/** The maximum number of tools in one request, with those in namespaces. */
const MAX_ALL_TOOLS = 512

const Name = z.string().regex(/^[\w.-]{1,64}$/)
const Description = optional(z.string().max(20_000))
/** A tool whose input is JSON. */
const functionFields = {
  name: Name,
  description: Description,
  parameters: optional(ToolParameters),
}
/** A tool whose input is one text. `format` may describe the text with a grammar. */
const customFields = {
  name: Name,
  description: Description,
  format: optional(z.looseObject({ type: z.string().max(100) })),
}

const KNOWN_KINDS: ReadonlySet<string> = new Set(['function', 'custom', 'namespace'])
/** A kind that this server does not know: `web_search` and its kin are its own tool, all others are left out. */
const OtherTool = z
  .looseObject({
    type: z
      .string()
      .max(100)
      .refine((type) => !KNOWN_KINDS.has(type)),
  })
  .transform(({ type }) => ({ type: 'other' as const, kind: type }))

/** The first fault of the form that the tool's kind names, for a message that says more than "invalid". */
const faultOf = ({ errors }: { errors?: readonly (readonly z.core.$ZodIssue[])[] }): string => {
  const issue = errors?.flat().find(({ path }) => path[0] !== 'type') ?? errors?.[0]?.[0]
  if (issue === undefined) return 'is not a tool'
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}
const toolOf = <Known extends z.ZodType>(known: Known) =>
  z.union([known, OtherTool], {
    error: (issue) => (issue.code === 'invalid_union' ? faultOf(issue) : undefined),
  })

const FunctionTool = z.object({ type: z.literal('function'), ...functionFields })
const CustomTool = z.object({ type: z.literal('custom'), ...customFields })

/** A tool in the form of the Responses API. A namespace groups tools, such as those of one MCP server of the program. */
export const ResponseTool = toolOf(
  z.discriminatedUnion('type', [
    FunctionTool,
    CustomTool,
    z.object({
      type: z.literal('namespace'),
      name: Name,
      description: Description,
      tools: z
        .array(toolOf(z.discriminatedUnion('type', [FunctionTool, CustomTool])))
        .max(MAX_CLIENT_TOOLS),
    }),
  ]),
)
export type ResponseTool = z.infer<typeof ResponseTool>

const countTools = (tools: readonly ResponseTool[]): number =>
  tools.reduce((sum, tool) => sum + (tool.type === 'namespace' ? tool.tools.length : 1), 0)

/** The tools of one request in the form of the Responses API. */
export const ResponseTools = z
  .array(ResponseTool)
  .max(MAX_CLIENT_TOOLS)
  .refine((tools) => countTools(tools) <= MAX_ALL_TOOLS, {
    error: `at most ${MAX_ALL_TOOLS} tools, with those in namespaces`,
  })
/** A tool that stands for itself, not for a group. */
export type SingleTool = Exclude<ResponseTool, { type: 'namespace' | 'other' }>

/** A tool in the form of chat completions. */
export const ChatTool = toolOf(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('function'), function: z.object(functionFields) }),
    z.object({ type: z.literal('custom'), custom: z.object(customFields) }),
  ]),
)
export type ChatTool = z.infer<typeof ChatTool>

/** A tool as a response repeats it. */
export const EchoedTool = z.looseObject({ type: z.string() })
export type EchoedTool = z.infer<typeof EchoedTool>

/** What the request had that the server left out, one line for each kind. Absent: nothing. */
export const Warnings = z.array(z.string()).optional()

const ChosenTool = z.object({
  type: z.string().max(100),
  name: optional(z.string().min(1).max(200)),
  namespace: optional(z.string().max(200)),
  function: optional(z.object({ name: z.string().min(1).max(200) })),
  custom: optional(z.object({ name: z.string().min(1).max(200) })),
})
const allowedFields = {
  mode: optional(z.enum(['auto', 'required'])),
  tools: optional(z.array(ChosenTool).max(MAX_CLIENT_TOOLS)),
}
/** Which tools the model may or must call, in the forms of both APIs. */
export const AnyToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  ChosenTool.extend({ ...allowedFields, allowed_tools: optional(z.object(allowedFields)) }),
])
export type AnyToolChoice = z.infer<typeof AnyToolChoice>
