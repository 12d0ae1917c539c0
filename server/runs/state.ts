// The stored options and state of a run.
import { z } from 'zod'
import { ApprovalMode } from '../protocol/conversations/conversation.ts'
import { OnDisconnect, ToolChoice } from '../protocol/conversations/message.ts'
import { CallId } from '../protocol/ids.ts'
import { FinishReason } from '../protocol/runs/run-event.ts'

/** A tool that the program behind a request runs itself. */
export const ClientTool = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
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

/** Fixed when the run is created, so that it continues unchanged after a restart. */
export const RunOptions = z.object({
  toolsEnabled: z.boolean(),
  toolChoice: ToolChoice.optional(),
  approval: ApprovalMode,
  onDisconnect: OnDisconnect,
  /** For background tasks: the instruction, and whether to post the result in the conversation. */
  task: z.string().optional(),
  announce: z.boolean().optional(),
  /** The tool call that started the task. If the call is repeated after a restart, it finds this run. */
  callId: z.string().optional(),
  /** Names of the tools that the task may use. */
  tools: z.array(z.string()).optional(),
  /** Tools that the program behind the request runs itself. A call of one of them ends the run. */
  clientTools: z.array(ClientTool).optional(),
  /** Nobody can approve: calls that need approval are refused, with a text for the model. */
  refusesApprovals: z.boolean().optional(),
  /** Fields of a Responses API request that its response repeats. */
  response: ResponseOptions.optional(),
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
  /** Whether the note contains text from outside. */
  outside: z.boolean().default(false),
})
/** The stored additions of a run to the prompt. Later runs repeat them byte for byte. */
export type RunPrompt = z.infer<typeof RunPrompt>

/** The JSON in `runs.state`: what an attempt continues from that is neither a step nor a column. */
export const RunState = z.object({
  /** Set when the last iteration is stored and only the end is missing. */
  finish: FinishReason.optional(),
  /** Tools that a person approved for the rest of this run. */
  grants: z.array(z.string()).default([]),
  /** The title that this run generated. */
  title: z.string().optional(),
  /** Maximum number of iterations when the run began or was last resumed, counted from its first iteration. */
  iterationLimit: z.int().optional(),
  prompt: RunPrompt.optional(),
  /** Names of the tools that the model found in this run, in order. Later runs list them from the beginning. */
  foundTools: z.array(z.string()).optional(),
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
