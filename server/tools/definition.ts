// What a tool is: its declaration, its arguments, its context, its result, and the form in which models receive it.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { errorText } from '../errors.ts'
import type { ModelImage, ToolSchema } from '../llm/client.ts'
import type { StoredFailure } from '../protocol/failures/stored.ts'
import type {
  CallId,
  ConversationId,
  MessageId,
  ProjectId,
  RunId,
  UserId,
} from '../protocol/ids.ts'
import type { McpAppReference } from '../protocol/mcp-app.ts'
import type { Plan, PlanItem } from '../protocol/runs/plan.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/runs/run-event.ts'
import type { Artifact } from '../protocol/runs/step.ts'
import type { SubAgentView, ToolProgress } from '../protocol/runs/tool-progress.ts'
import type { PersonInput } from './person-input.ts'
import type { Spending } from './spending.ts'

/**
 * What a tool returns. `data` is for the model, `artifact` for the person. A failure is a result; tools do not throw.
 * `untrusted` marks a result with text from outside, even if the tool's results usually contain none.
 */
export type ToolResult = (
  | { success: true; data: unknown }
  | {
      success: false
      error: string
      data?: unknown
      /** Names the error for what a person reads outside of a run. */
      failure?: StoredFailure | undefined
    }
) & {
  artifact?: Artifact
  untrusted?: boolean
  /**
   * Pictures for models that see. The artifact has the same as files that are marked `for_model`, so that they are there
   * after a restart.
   */
  images?: readonly ModelImage[]
  /** Whether the model receives it as it is, however long. Only for what is bounded otherwise. */
  isKeptWhole?: boolean
}

/** A successful result for the model, and what the page shows of it. */
export const succeed = (data: unknown, artifact?: Artifact): ToolResult =>
  artifact === undefined ? { success: true, data } : { success: true, data, artifact }

/** A failed result: `error` tells the model what to change. */
export const fail = (
  error: string,
  more: {
    data?: unknown
    artifact?: Artifact
    images?: readonly ModelImage[]
    failure?: StoredFailure | undefined
  } = {},
): ToolResult => ({
  success: false,
  error,
  ...more,
})

/** Returns the same result, marked if it contains text from outside. */
export const markUntrusted = (result: ToolResult, untrusted: boolean): ToolResult =>
  untrusted ? { ...result, untrusted } : result

/** A task that a tool gives to a sub-agent. */
export interface AgentTask {
  /** A short label for the result. */
  name: string
  instruction: string
  /** Names or aliases of the tools that it may use; by default, all tools of the run. */
  tools?: readonly string[] | undefined
}

/** What an agent that worked for a tool returned. */
export type AgentOutcome = { success: true; response: string } | { success: false; error: string }

/** Starts other agents for the run of a tool call. */
export interface AgentStarter {
  /**
   * Performs the tasks in parallel, each with a sub-agent, and reports their state as progress of the call. If a restart
   * repeats the call, each sub-agent continues where it stopped. `untrusted`: the conversation contains text from outside,
   * which the outcomes may repeat.
   */
  performTasks(
    tasks: readonly AgentTask[],
    call: ToolContext,
  ): Promise<{ outcomes: AgentOutcome[]; agents: SubAgentView[]; untrusted: boolean }>
  /** Starts a run in the background, once per call, however often the call is repeated. */
  startBackgroundTask(task: {
    callId: CallId
    task: string
    /** Whether to post its answer in the conversation. */
    announce: boolean
  }): Promise<{ ok: true; id: RunId } | { ok: false; error: string }>
}

/** The plan of a run, as its `plan` tool changes it. */
export interface PlanKeeper {
  /**
   * Replaces the plan. `kept`: the plan of a person who has changed it meanwhile stays; `edited`: it is stored as the person
   * has changed it in their approval.
   * @param wasAsked whether a person was asked before.
   */
  replace(
    items: readonly PlanItem[],
    wasAsked: boolean,
  ): Promise<{ outcome: 'stored' | 'edited' | 'kept'; plan: Plan }>
}

/** The files of a conversation that has no project. */
export interface OwnFiles {
  /** The scratch project with them; null before the first change. */
  find(): Promise<ProjectId | null>
  /** The project in which a call writes: made with the first one. */
  forChange(): Promise<ProjectId>
}

/** The user, conversation and run of a call. The server sets it; the model can neither see nor forge it. */
export interface ToolContext {
  userId: UserId
  conversationId: ConversationId | null
  /** Where the conversation's files are; null if it has none yet, or none may be made. */
  projectId: ProjectId | null
  /** How a conversation without a project gets files of its own; absent if it gets none. */
  readonly ownFiles?: OwnFiles
  runId: RunId
  /** The attempt at the run that makes the call. Once a later attempt has begun, the call can no longer change files. */
  attempt?: number
  /** The assistant message that is being written. Checkpoints and documents refer to it. */
  messageId: MessageId | null
  /** Id of the model that made the call. */
  model: string
  callId: CallId
  /** Whether an app of an MCP server makes the call: its result is kept as the server sent it. Default: false. */
  readonly isFromApp?: boolean
  /** The names of the tools that the run was offered; absent if what it makes may use none. */
  readonly offered?: readonly string[]
  /** Whether the conversation currently contains text from outside, which the call's arguments may repeat. */
  isTainted(): boolean
  /** Whether the call may follow a redirect to this address; absent if it may follow every one. */
  allowsRedirect?(address: URL): Promise<boolean>
  readonly agents: AgentStarter
  readonly spending: Spending
  /** Asks the person for input; absent if nobody can answer. The wait does not count toward the tool's time. */
  readonly person?: PersonInput
  /** The plan of the run; absent for sub-agents and background tasks. */
  readonly plan?: PlanKeeper
  /** Names of the skills whose instructions the model still has; a skill that it loads is added. Absent for sub-agents. */
  readonly loadedSkills?: Set<string>
  /** Aborted when the run stops or the tool's time is up. Child processes must end within 1 s. */
  signal: AbortSignal
  /** Reports live output for the person while the call runs. The receiver bounds and merges it; it is never stored. */
  progress(progress: ToolProgress): void
}

/** A tool as the server uses it: built in, or from an MCP server. */
export interface ToolDefinition {
  readonly name: string
  /** Other names that a model may use for the tool; they are never listed. */
  readonly aliases: readonly string[]
  readonly description: string
  readonly category: string
  readonly riskLevel: RiskLevel
  /**
   * The key under which approvals of the tool are remembered, if not its name. It changes with the tool's description of
   * itself.
   */
  readonly grantKey?: string
  /** Whether results may be reused within the run and from the cache. Only for tools that change nothing. */
  readonly cacheable: boolean
  /** Whether a call may run again after the server died during it. */
  readonly repeatable: boolean
  /** Whether every result contains untrusted text from outside, so that the conversation becomes tainted. */
  readonly untrusted: boolean
  /**
   * Whether web addresses in its results are not the model's own, except those that the arguments say: they come from
   * outside, from a person or from their files. Only such addresses may be opened in a tainted conversation without a person.
   */
  readonly namesAddresses: boolean
  /** Whether the tool changes the project's files, so that cached results of the project are dropped. */
  readonly changesProject: boolean
  /** Milliseconds. */
  readonly timeoutMs: number
  /** The isolation that is in force, for tools that run programs. */
  readonly isolation?: string
  /** The app of an MCP server that shows the results of the tool. */
  readonly app?: McpAppReference
  readonly parameters: Record<string, unknown>
  /**
   * Called when a run receives a result or preview that the tool has not just produced: a cached result, or a result or
   * approval request from before a restart. Only for tools that remember what a run has seen. Must not throw.
   */
  readonly recall?: (shown: Artifact | ApprovalPreview, runId: RunId) => void
  /** Parses and checks the model's arguments. The error says what is wrong and what is allowed. */
  parse(rawArguments: string): { ok: true; input: ParsedInput } | { ok: false; error: string }
}

/** Arguments that passed the tool's schema, bound to its handler. */
export interface ParsedInput {
  /** The checked arguments with their defaults. Compared by value to find duplicates and cached results. */
  readonly value: Record<string, unknown>
  /** The risk level of this call. Arguments may raise it. */
  readonly riskLevel: RiskLevel
  /** Whether a person is asked in every mode but `auto`, whatever the risk and whatever is remembered. */
  readonly asksAlways?: boolean
  /** Calls of a batch with the same key run one after another, in the order of the calls; null for no order. */
  readonly orderKey: string | null
  /** Whether it may run beside other calls with the same key that say so, too: none of them changes anything. */
  readonly isOrderShared?: boolean
  /** The addresses on the web that the call would reach, as the model wrote them. */
  readonly addresses: readonly string[]
  /** What a person sees before deciding. Changes nothing. @throws AppError if the call cannot succeed. */
  preview(context: ToolContext): Promise<ApprovalPreview | undefined>
  /** Runs the tool. What it throws becomes a failed result (`runInput` in `timed-run.ts`). */
  run(context: ToolContext): Promise<ToolResult>
}

/** A tool as its author writes it; `defineTool` turns it into a definition. */
interface ToolSpecification<Input extends z.ZodObject> {
  name: string
  aliases?: readonly string[]
  description: string
  category: string
  riskLevel?: RiskLevel
  cacheable?: boolean
  /** Default: true for tools with risk level `low`, otherwise false. */
  repeatable?: boolean
  untrusted?: boolean
  namesAddresses?: boolean
  changesProject?: boolean
  timeoutMs?: number
  isolation?: string
  recall?(shown: Artifact | ApprovalPreview, runId: RunId): void
  input: Input
  riskFor?(input: z.output<Input>): RiskLevel
  asksAlways?(input: z.output<Input>): boolean
  orderKey?(input: z.output<Input>): string | null
  addresses?(input: z.output<Input>): readonly string[]
  preview?(input: z.output<Input>, context: ToolContext): Promise<ApprovalPreview | undefined>
  handler(input: z.output<Input>, context: ToolContext): Promise<ToolResult>
}

const DEFAULT_TIMEOUT_MS = 60_000

/**
 * The JSON schema that a model receives. Text lengths and the range of safe integers are omitted: every request would pay
 * for them, models do not count characters, and the validation reports violations.
 */
function modelSchema(input: z.ZodObject): Record<string, unknown> {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(input, {
    io: 'input',
    override({ jsonSchema }) {
      delete jsonSchema.minLength
      delete jsonSchema.maxLength
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return parameters
}

/**
 * Declares a tool. One zod object provides the schema for the model, the validation, and the type of the handler's input.
 */
export function defineTool<Input extends z.ZodObject>(
  specification: ToolSpecification<Input>,
): ToolDefinition {
  const riskLevel = specification.riskLevel ?? 'medium'
  const parameters = modelSchema(specification.input)
  return {
    name: specification.name,
    aliases: specification.aliases ?? [],
    description: specification.description,
    category: specification.category,
    riskLevel,
    cacheable: specification.cacheable ?? false,
    repeatable: specification.repeatable ?? riskLevel === 'low',
    untrusted: specification.untrusted ?? false,
    namesAddresses: specification.namesAddresses ?? false,
    changesProject: specification.changesProject ?? false,
    timeoutMs: specification.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    ...(specification.isolation === undefined ? {} : { isolation: specification.isolation }),
    ...(specification.recall === undefined ? {} : { recall: specification.recall }),
    parameters,
    parse(rawArguments) {
      const read = readArguments(rawArguments)
      if (!read.ok) return read
      const checked = checkArguments(specification.input, read.value)
      if (!checked.ok) return checked
      const input = checked.value
      return {
        ok: true,
        input: {
          value: input,
          riskLevel: specification.riskFor?.(input) ?? riskLevel,
          asksAlways: specification.asksAlways?.(input) ?? false,
          orderKey: specification.orderKey?.(input) ?? null,
          addresses: specification.addresses?.(input) ?? [],
          async preview(context) {
            return await specification.preview?.(input, context)
          },
          async run(context) {
            return await specification.handler(input, context)
          },
        },
      }
    },
  }
}

// The arguments that a model wrote for a tool call: parsed, checked, and repaired where their meaning is beyond doubt.

/** More characters than any model writes in one call. A 20 MB file as escaped text fits. */
const MAX_ARGUMENTS = 32_000_000

type Read<Value> = { ok: true; value: Value } | { ok: false; error: string }

/**
 * Checks arguments against the schema of their tool. Small models often write null or an empty text for an optional
 * argument that they leave out, and numbers, booleans and lists as texts: if nothing else is wrong, that is accepted.
 */
export function checkArguments<Input extends z.ZodObject>(
  schema: Input,
  value: Record<string, unknown>,
): Read<z.output<Input>> {
  try {
    const checked = schema.safeParse(value)
    if (checked.success) return { ok: true, value: checked.data }
    const again = schema.safeParse(repaired(schema, value, checked.error.issues))
    return again.success
      ? { ok: true, value: again.data }
      : { ok: false, error: describeFault(checked.error) }
  } catch (error) {
    // A value that is nested so deeply that the check overflows the stack is an ordinary failure.
    return { ok: false, error: `Invalid arguments: ${errorText(error)}` }
  }
}

/** A copy of the arguments in which those that have issues are left out or read as JSON, if that may be meant. */
function repaired(
  schema: z.ZodObject,
  value: Record<string, unknown>,
  issues: readonly z.core.$ZodIssue[],
): Record<string, unknown> {
  const result = { ...value }
  for (const { path, code } of issues) {
    const [name] = path
    if (typeof name !== 'string' || path.length > 1 || !Object.hasOwn(schema.shape, name)) continue
    const given = value[name]
    const isOptional = z.safeParse(schema.shape[name], undefined).success
    if (isOptional && (given === null || given === '')) delete result[name]
    else if (code === 'invalid_type' && typeof given === 'string') result[name] = asJson(given)
  }
  return result
}

/** The value of a JSON text; the text itself if it is not JSON. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Parses the JSON object that a model wrote as arguments (an empty text is `{}`). The error is for the model. */
export function readArguments(text: string): Read<Record<string, unknown>> {
  if (text.length > MAX_ARGUMENTS)
    return { ok: false, error: `Invalid arguments: longer than ${MAX_ARGUMENTS} characters` }
  if (text.trim() === '') return { ok: true, value: {} }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { ok: true, value: { ...value } }
    return { ok: false, error: 'Invalid arguments: expected one JSON object' }
  } catch (error) {
    const hint = text.trimEnd().endsWith('}')
      ? ''
      : ' The arguments have no end: if they were cut off at the limit for your output, make the call again with less in it.'
    return { ok: false, error: `Invalid JSON arguments: ${errorText(error)}.${hint}` }
  }
}

function describeFault(error: z.ZodError): string {
  const faults = error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.length > 0 ? issue.path.join('.') : 'arguments'
    return `${path}: ${issue.message}`
  })
  return `Invalid arguments: ${faults.join('; ')}`
}

// The form in which models receive tools.

/** The newest schema of each tool. */
const schemas = new WeakMap<ToolDefinition, ToolSchema>()

/**
 * The form in which a model receives a tool: the same object until the tool's description changes, so that requests can
 * recognize the tools of earlier requests (`llm/tokens.ts`).
 */
export function toSchema(tool: ToolDefinition): ToolSchema {
  const { name, description, parameters } = tool
  const known = schemas.get(tool)
  if (known?.function.description === description && known.function.parameters === parameters)
    return known
  const schema: ToolSchema = { type: 'function', function: { name, description, parameters } }
  schemas.set(tool, schema)
  return schema
}

/** Tools of programs that are remembered, and the characters of their JSON. */
const MAX_PROGRAM_TOOLS = 2_000
const MAX_PROGRAM_CHARACTERS = 4_000_000

/** By a hash of their JSON. */
const programSchemas = new LRUCache<string, ToolSchema>({
  max: MAX_PROGRAM_TOOLS,
  maxSize: MAX_PROGRAM_CHARACTERS,
})

/**
 * The form in which a model receives a tool that a program sent with its request: the same object for the same tool in later
 * requests, so that what is derived from it (the adapted schema, the text of the list, its tokens) is derived once.
 */
export function programSchema({
  name,
  description,
  parameters,
}: ToolSchema['function']): ToolSchema {
  const schema: ToolSchema = { type: 'function', function: { name, description, parameters } }
  const text = JSON.stringify(schema)
  const key = createHash('sha256').update(text).digest('base64')
  const known = programSchemas.get(key)
  if (known !== undefined) return known
  programSchemas.set(key, schema, { size: text.length })
  return schema
}
