// One step of an answer: the same shape on the stream, in the database and in the page.
import { z } from 'zod'
import { CallId, FileId } from '../ids.ts'
import { McpAppReference } from '../mcp-app.ts'
import { SubAgentView } from './tool-progress.ts'

/**
 * What a person sees of a tool result, in addition to the text for the model. `display` is one line; the other fields
 * depend on the tool.
 */
export const Artifact = z
  .object({
    display: z.string(),
    diff: z.string().optional(),
    added: z.int().optional(),
    removed: z.int().optional(),
    /** Whether the result contains text from outside: the conversation is tainted from here on (docs/tools.md). */
    untrusted: z.boolean().optional(),
    /** The sub-agents of the call and what they did. */
    agents: z.array(SubAgentView).optional(),
    /** Files or images that the call produced: data URLs, names in the run's output folder, or files of the answer. */
    files: z
      .array(
        z.object({
          name: z.string(),
          mime: z.string(),
          size: z.int(),
          data: z.string().optional(),
          /** The file is one of the answer's attachments. */
          file_id: FileId.optional(),
          /** Whether models that see get the image with the result. */
          for_model: z.boolean().optional(),
        }),
      )
      .optional(),
    /** The app of an MCP server that shows the result. */
    app: McpAppReference.optional(),
    /** The result as the MCP server sent it, for its app. Absent: it has none, or is long. */
    app_result: z.unknown().optional(),
  })
  .catchall(z.unknown())
  .meta({ id: 'Artifact' })
export type Artifact = z.infer<typeof Artifact>

/** The images that models see with the result that has this artifact, as base64. */
export const modelImagesOf = (artifact: Artifact | null | undefined) =>
  (artifact?.files ?? []).flatMap(({ mime, data, for_model: isForModel }) =>
    isForModel === true && data !== undefined
      ? [{ mime, data: data.slice(data.indexOf(',') + 1) }]
      : [],
  )

const position = { id: z.templateLiteral(['step-', z.int()]), index: z.int().min(0) }

export const ThinkingStep = z.object({
  ...position,
  type: z.literal('thinking'),
  content: z.string(),
  /** How long the model thought, in milliseconds; absent while it thinks, and if unknown. */
  duration_ms: z.int().min(0).optional(),
})
export const TextStep = z.object({ ...position, type: z.literal('text'), content: z.string() })
/** Who made the call: absent for the model; an app of an MCP server makes calls beside the answer, which models do not see. */
const byApp = z.literal('app').optional()

/** A tool call of an answer, as the model wrote it. */
export const ToolCallStep = z.object({
  ...position,
  type: z.literal('tool_call'),
  id_ref: CallId,
  name: z.string(),
  /** JSON text exactly as the model wrote it, so that the history sent back is byte-identical. */
  arguments: z.string(),
  /** The grant that let the call through, so that nobody was asked. */
  grant_id: z.string().optional(),
  origin: byApp,
})
/** The result of a tool call of an answer: `content` for the model, `artifact` for the person. */
export const ToolResultStep = z.object({
  ...position,
  type: z.literal('tool_result'),
  id_ref: CallId,
  name: z.string(),
  /** The JSON string that the model sees: `{success, data|error, execution_time, …}`. */
  content: z.string(),
  skipped: z.boolean(),
  artifact: Artifact.optional(),
  origin: byApp,
})

/** One stored part of an answer. */
export const Step = z
  .discriminatedUnion('type', [ThinkingStep, TextStep, ToolCallStep, ToolResultStep])
  .meta({ id: 'Step' })
export type Step = z.infer<typeof Step>
export type ToolCallStep = z.infer<typeof ToolCallStep>
export type ToolResultStep = z.infer<typeof ToolResultStep>

/** Identifies a step within its message. */
export type StepId = Step['id']
/** The id of a step on the wire, from its position in the answer. */
export const stepId = (index: number): StepId => `step-${index}`
