// The stored options and state of a run.
import { z } from 'zod'
import type { SubAgentLimits } from '../agent/sub-agent.ts'
import { ApprovalMode } from '../protocol/conversations/conversation.ts'
import { OnDisconnect, ToolChoice } from '../protocol/conversations/message.ts'
import { CallId } from '../protocol/ids.ts'
import { AnswerFormat } from '../protocol/runs/answer-format.ts'
import { PAGE_ORIGIN, RunOrigin } from '../protocol/runs/origin.ts'
import { ReceiptCounts } from '../protocol/runs/receipt.ts'
import { FinishReason, ReachedLimit } from '../protocol/runs/run-event.ts'
import type { ChatSettings } from './dependencies.ts'

/** A tool that the program behind a request runs itself. */
export const ClientTool = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  /** How the program named it, if not in this way: its calls are given back in that form. */
  offeredAs: z
    .object({
      name: z.string(),
      namespace: z.string().optional(),
      /** Whether its input is a text instead of JSON. */
      isCustom: z.boolean(),
    })
    .optional(),
})
/** A tool that the program behind a request runs itself. `parameters` is JSON Schema. */
export type ClientTool = z.infer<typeof ClientTool>

/** Fields of a request to `/v1/responses` that its response repeats. */
export const ResponseOptions = z.object({
  previousId: z.string().nullable(),
  background: z.boolean(),
  isStored: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  instructions: z.string().nullable(),
  temperature: z.number().nullable(),
  maxTokens: z.int().nullable(),
})
/** Fields of a request to `/v1/responses` that its response repeats; absent ones were not sent. */
export type ResponseOptions = z.infer<typeof ResponseOptions>

/** How a model answers, as a conversation stores it. */
export const RunSettings = z.object({
  systemPrompt: z.string().nullable(),
  temperature: z.number().nullable(),
  maxTokens: z.int().nullable(),
  thinkingEnabled: z.boolean(),
})
/** How a model answers: the settings of a conversation that a program may replace for one run. */
export type RunSettings = z.infer<typeof RunSettings>

/** Limits of one run instead of the server's. */
const OwnLimits = z.object({
  maxIterations: z.int().min(1).optional(),
  minutes: z.number().positive().optional(),
  subAgents: z.object({ maxIterations: z.int().min(1), timeout: z.number().positive() }).optional(),
  /** In any currency. */
  cost: z.number().positive().optional(),
  tokens: z.int().min(1).optional(),
})

/** Fixed when the run is created, so that it continues unchanged after a restart. */
export const RunOptions = z.object({
  toolsEnabled: z.boolean(),
  toolChoice: ToolChoice.optional(),
  approval: ApprovalMode,
  /** Seconds after which a request for a decision expires; absent: none does. */
  approvalDeadline: z.int().optional(),
  /** Absent in runs from before it was stored. */
  origin: RunOrigin.optional(),
  onDisconnect: OnDisconnect,
  /** For background tasks: the instruction, and whether to post the result in the conversation. */
  task: z.string().optional(),
  announce: z.boolean().optional(),
  /** The tool call that started the task. If the call is repeated after a restart, it finds this run. */
  callId: z.string().optional(),
  /** Names of the server's tools that the run may use. Absent: all. */
  tools: z.array(z.string()).optional(),
  /** Tools that the program behind the request runs itself. A call of one of them ends the run. */
  clientTools: z.array(ClientTool).optional(),
  /** Whether the program asked for a web search: its calls are given back in the form of OpenAI's own. */
  searchesWeb: z.boolean().optional(),
  /** The form that the program requires of the answer. */
  format: AnswerFormat.optional(),
  /** How often a failed model call is repeated at most; absent: as often as usual. */
  retries: z.int().min(0).optional(),
  /** The language of the reader's page. */
  language: z.string().optional(),
  /** Whether the program asked for the conversation's own files. */
  ownFiles: z.boolean().optional(),
  /** What the server left out of the program's request, for the response. */
  warnings: z.array(z.string()).optional(),
  /** Nobody can approve: calls that need approval are refused, with a text for the model. */
  refusesApprovals: z.boolean().optional(),
  /** Fields of a Responses API request that its response repeats. */
  response: ResponseOptions.optional(),
  /** Names of the skills that the message asked for. */
  skills: z.array(z.string()).optional(),
  limits: OwnLimits.optional(),
  /** Whether the run may end by saying that there is nothing to report. */
  quiet: z.boolean().optional(),
  /** Settings for this run instead of the conversation's. */
  settings: RunSettings.optional(),
  /** The settings with which a program began the conversation. Its later requests do not repeat them. */
  begunWith: RunSettings.optional(),
})
/** The stored options of a run. They never change after the run is created. */
export type RunOptions = z.infer<typeof RunOptions>

/** What this run added to the prompt, so that later runs send the same bytes again. */
export const RunPrompt = z.object({
  /** The user's memory in the system prompt; set if this run read it. */
  memory: z.string().optional(),
  /** The file listing of the project; set if it had changed. */
  listing: z.string().optional(),
  /** The note before the question. */
  note: z.string().optional(),
  /** What apps of MCP servers said about their state; set if it had changed. */
  apps: z.string().optional(),
  /** Whether the note contains text from outside. */
  outside: z.boolean().default(false),
})
/** The stored additions of a run to the prompt. Later runs repeat them byte for byte. */
export type RunPrompt = z.infer<typeof RunPrompt>

/** The JSON in `runs.state`: what an attempt continues from that is neither a step nor a column. */
export const RunState = z.object({
  /** Set when the last iteration is stored and only the end is missing. */
  finish: FinishReason.optional(),
  /** With it, the limit that ended the run. */
  limit: ReachedLimit.optional(),
  /** The title that this run generated. */
  title: z.string().optional(),
  /** Maximum number of iterations when the run began or was last resumed, counted from its first iteration. */
  iterationLimit: z.int().optional(),
  prompt: RunPrompt.optional(),
  /** Names of the tools that the model found in this run, in order. Later runs list them from the beginning. */
  foundTools: z.array(z.string()).optional(),
  /** What the answer had done when the run ended; absent in runs from before it was stored. */
  receipt: ReceiptCounts.optional(),
  /** How the run had ended when a person last resumed it; null for a failure. */
  resumedAfter: FinishReason.nullable().optional(),
  /** What the next run of the conversation repeats (`WindowMarks`). */
  window: z
    .object({ shortenedTo: CallId.optional(), ratio: z.number().positive().optional() })
    .optional(),
})
/** The stored state of a run, for its next attempt and for later runs of the conversation. */
export type RunState = z.infer<typeof RunState>

/** Parses the stored state of a run. A run without one has the initial state. */
export const readRunState = (stored: unknown): RunState => RunState.parse(stored ?? {})
/** Parses the stored options of a run. */
export const readRunOptions = (stored: unknown): RunOptions => RunOptions.parse(stored)
const OriginOption = RunOptions.pick({ origin: true })
const LimitsOption = RunOptions.pick({ limits: true })
/** What a run has instead of the server's limits. */
export const ownLimitsOf = ({ options }: { options: unknown }): RunOptions['limits'] =>
  LimitsOption.parse(options).limits
/** What started a run. */
export const originOfRun = ({ options }: { options: unknown }): RunOrigin =>
  OriginOption.parse(options).origin ?? PAGE_ORIGIN

/** The state of a run, as one attempt changes it. Every change is made here, and each knows whether it has to be stored. */
export interface RunStateOwner {
  readonly current: Readonly<RunState>
  /** Sets what the run adds to the prompt, unless an earlier attempt has. Returns what it adds. */
  setPrompt(create: () => RunPrompt): RunPrompt
  addFoundTools(names: readonly string[]): void
  /** Only later runs of the conversation repeat the marks, so that they are stored with the next other change. */
  setWindow(marks: RunState['window']): void
  /** The last iteration is about to be stored, and only the end will be missing. */
  setFinish(finish: FinishReason, limit: ReachedLimit | null): void
  /** The run is about to end. @param title the title that it generated; null for none. @param receipt what it did. */
  end(title: string | null, receipt: ReceiptCounts): void
  /** The change of the run's row that stores what is not stored yet. Store it with the next write of the row. */
  nextChange(): { state?: RunState }
}

/** Create one per attempt, from the stored state. */
export function createRunState(stored: unknown): RunStateOwner {
  let current = readRunState(stored)
  let isStored = true
  const change = (patch: Partial<RunState>): void => {
    current = { ...current, ...patch }
    isStored = false
  }
  return {
    get current() {
      return current
    },
    setPrompt(create) {
      const prompt = current.prompt ?? create()
      if (current.prompt === undefined) change({ prompt })
      return prompt
    },
    addFoundTools: (names) => change({ foundTools: [...(current.foundTools ?? []), ...names] }),
    setWindow(window) {
      current = { ...current, window }
    },
    setFinish: (finish, limit) => change({ finish, ...(limit === null ? {} : { limit }) }),
    end(title, receipt) {
      const { finish: _finish, limit: _limit, ...rest } = current
      current = { ...rest, receipt, ...(title === null ? {} : { title }) }
      isStored = false
    },
    nextChange() {
      if (isStored) return {}
      isStored = true
      return { state: current }
    },
  }
}

/** How much a run may do before it ends by itself. */
interface RunLimits {
  /** Iterations of one start or resumption. */
  maxIterations: number
  /** Minutes of work, without waiting for a person. */
  minutes: number
  subAgents: SubAgentLimits
}

/** The limits of a run with these options. */
export function limitsOf(
  { limits }: Pick<RunOptions, 'limits'>,
  settings: Pick<ChatSettings, 'maxIterations' | 'runMinutes' | 'subAgents'>,
): RunLimits {
  return {
    maxIterations: limits?.maxIterations ?? settings.maxIterations,
    minutes: limits?.minutes ?? settings.runMinutes,
    subAgents: { ...settings.subAgents, ...limits?.subAgents },
  }
}
