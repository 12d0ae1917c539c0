// The stored options and state of a run.
import { z } from 'zod'
import { ApprovalMode } from '../protocol/conversations/conversation.ts'
import { OnDisconnect, ToolChoice } from '../protocol/conversations/message.ts'
import { CallId } from '../protocol/ids.ts'
import { FinishReason } from '../protocol/runs/run-event.ts'

/** A tool of the program that sent the request. */
export const ClientTool = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.json()),
})
export type ClientTool = z.infer<typeof ClientTool>

/** What a request to `/v1/responses` asked for that its response repeats. */
export const ResponseOptions = z.object({
  previousId: z.string().nullable(),
  background: z.boolean(),
  isStored: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  instructions: z.string().nullable(),
  temperature: z.number().nullable(),
  maxTokens: z.int().nullable(),
})
export type ResponseOptions = z.infer<typeof ResponseOptions>

/** Fixed when the run is created, so that it continues unchanged after a restart. */
export const RunOptions = z.object({
  toolsEnabled: z.boolean(),
  toolChoice: ToolChoice.optional(),
  approval: ApprovalMode,
  onDisconnect: OnDisconnect,
  /** For background tasks: the instruction, and whether to announce the result. */
  task: z.string().optional(),
  announce: z.boolean().optional(),
  /** The tool call that started the task. If it is repeated after a restart, it finds this run. */
  callId: z.string().optional(),
  /** Names of the tools that the task may use. */
  tools: z.array(z.string()).optional(),
  /** Tools that the program behind the request runs itself: a call of one of them ends the run. */
  clientTools: z.array(ClientTool).optional(),
  /** Nobody can be asked: calls that need approval are refused, with a text for the model. */
  refusesApprovals: z.boolean().optional(),
  /** What a program asked for through the Responses API, and gets back with the response. */
  response: ResponseOptions.optional(),
})
export type RunOptions = z.infer<typeof RunOptions>

/** What this run added to the prompt, so that later runs send the same bytes again. */
export const RunPrompt = z.object({
  /** The user's memory in the system prompt, where this run read it anew. */
  memory: z.string().optional(),
  /** The listing of the project, where it had changed. */
  listing: z.string().optional(),
  /** Added before the question. */
  note: z.string().optional(),
  /** The note holds text from outside. */
  outside: z.boolean().default(false),
})
export type RunPrompt = z.infer<typeof RunPrompt>

/** What an attempt continues from that is neither a step nor a column: the JSON in `runs.state`. */
export const RunState = z.object({
  /** Set when the last iteration is stored and only the end is missing. */
  finish: FinishReason.optional(),
  /** Tools that a person approved for the rest of this run. */
  grants: z.array(z.string()).default([]),
  /** The title that this run generated. */
  title: z.string().optional(),
  /** Iterations that were allowed when it began or was last resumed, counted from the run's first. */
  iterationLimit: z.int().optional(),
  prompt: RunPrompt.optional(),
  /** What the next run of the conversation repeats, as `WindowMarks`. */
  window: z
    .object({ shortenedTo: CallId.optional(), ratio: z.number().positive().optional() })
    .optional(),
})
export type RunState = z.infer<typeof RunState>

/** The stored state of a run; a run that has not stored any has the initial one. */
export const readRunState = (stored: unknown): RunState => RunState.parse(stored ?? {})
/** What the run was started with, as it is stored. */
export const readRunOptions = (stored: unknown): RunOptions => RunOptions.parse(stored)
