// The result of one tool call as the model reads it: JSON text, built from what the tool returned.
import { errorText } from '../errors.ts'
import type { ModelImage, ToolCall } from '../llm/client.ts'
import type { CallId } from '../protocol/ids.ts'
import type { Artifact } from '../protocol/runs/step.ts'
import type { ToolResult } from './definition.ts'
import {
  type LongResultStore,
  MAX_RESULT_CHARACTERS,
  type ResultOwner,
  sliceResult,
} from './long-results.ts'

/** A settled call, as the model and the person see it. */
export interface CallResult {
  /** The call as the model made it. */
  call: ToolCall
  /** JSON text for the model: `{success, data|error, execution_time, cached?, duplicate?, duplicate_of?, skipped?}`. */
  content: string
  /** Whether the tool did not run, because a person rejected the call or a limit was reached. */
  skipped: boolean
  success: boolean
  /** Seconds; absent when the tool did not run. */
  executionTime?: number
  artifact?: Artifact
  /** Pictures for models that see. */
  images?: readonly ModelImage[]
  /** Whether it contains untrusted text from outside. */
  untrusted: boolean
  /** How long the tool ran, in milliseconds, and whether the result of an equal call was used instead. */
  ran: { durationMs: number; reused: boolean }
}

/** What the JSON text says in addition to the result. */
export interface ResultMarks {
  /** Seconds. */
  executionTime?: number
  cached?: boolean
  duplicateOf?: CallId
  skipped?: boolean
  /** JSON text of the arguments that a person approved instead of the model's. */
  approvedArguments?: string
  /** Names of the arguments that this person changed. */
  changedByUser?: readonly string[]
}

/** A result whose data is already JSON text, and short enough for the model. */
export type WrittenResult = (
  | { success: true; data: string }
  | { success: false; error: string; data?: string }
) &
  Pick<ToolResult, 'artifact' | 'untrusted' | 'images' | 'isKeptWhole'>

const MAX_ERROR_CHARACTERS = 8_000
/** Characters reserved for the rest of the JSON text, besides the data. */
const ENVELOPE_CHARACTERS = 500

/** Writes a tool's result as JSON text, not shortened. Data that JSON cannot express becomes a failure that says so. */
export function writeResult(result: ToolResult): WrittenResult {
  const rest = {
    ...(result.artifact === undefined ? {} : { artifact: result.artifact }),
    ...(result.untrusted ? { untrusted: true } : {}),
    ...(result.images === undefined ? {} : { images: result.images }),
    ...(result.isKeptWhole ? { isKeptWhole: true } : {}),
  }
  try {
    if (result.success) return { success: true, data: toJson(result.data), ...rest }
    const data = result.data === undefined ? {} : { data: toJson(result.data) }
    return { success: false, error: result.error, ...data, ...rest }
  } catch (error) {
    return {
      success: false,
      error: `The tool's result can't be written as JSON: ${errorText(error)}`,
      ...rest,
    }
  }
}

/** What the model receives: the same result, or, if it is too long, its beginning and a handle for `result_read`. */
export async function fitResult(
  result: WrittenResult,
  keeper: LongResultStore,
  owner: ResultOwner,
): Promise<WrittenResult> {
  const error = result.success ? {} : { error: cut(result.error, MAX_ERROR_CHARACTERS) }
  const left = MAX_RESULT_CHARACTERS - ENVELOPE_CHARACTERS - (error.error?.length ?? 0)
  if (result.data === undefined || result.isKeptWhole || result.data.length <= left)
    return { ...result, ...error }
  const whole = readableText(result.data)
  const handle = await keeper.create(owner, whole)
  const slice = sliceResult(handle, whole, 0, left)
  const note =
    'The result is too long; this is only the beginning. ' +
    `Continue with result_read(handle="${handle}", offset=${slice.next_offset ?? whole.length}).`
  return { ...result, ...error, data: JSON.stringify({ ...slice, truncated: true, note }) }
}

/** Marks an artifact of untrusted text as untrusted. `marks` say what the executor did with the call. */
export function createCallResult(
  call: ToolCall,
  result: WrittenResult,
  marks: ResultMarks = {},
): CallResult {
  const untrusted = result.untrusted ?? false
  const artifact = untrusted ? asUntrusted(call, result.artifact) : result.artifact
  return {
    call,
    content: writeContent(result, marks),
    skipped: marks.skipped ?? false,
    success: result.success,
    ...(marks.executionTime === undefined ? {} : { executionTime: marks.executionTime }),
    ...(artifact === undefined ? {} : { artifact }),
    ...(result.images === undefined ? {} : { images: result.images }),
    untrusted,
    ran: {
      durationMs: Math.round((marks.executionTime ?? 0) * 1_000),
      reused: marks.cached === true || marks.duplicateOf !== undefined,
    },
  }
}

/** The mark is stored with the step, so that the conversation is still known to be tainted later. */
const asUntrusted = (call: ToolCall, artifact: Artifact | undefined): Artifact =>
  Object.assign({ display: call.name }, artifact, { untrusted: true })

/** Larger artifacts are files, which belong to the user. */
const MAX_REDACTED_CHARACTERS = 200_000

/** Returns the result with every secret redacted from what the model and the person read. */
export function withoutSecrets(result: CallResult, redact: (text: string) => string): CallResult {
  const content = redact(result.content)
  if (result.artifact === undefined) return { ...result, content }
  const written = JSON.stringify(result.artifact)
  if (written.length > MAX_REDACTED_CHARACTERS) return { ...result, content }
  const redacted = redact(written)
  return {
    ...result,
    content,
    // It was serialized one line above; redacting a secret leaves the JSON valid.
    artifact: redacted === written ? result.artifact : (JSON.parse(redacted) as Artifact),
  }
}

/** The JSON text of a whole result. */
function writeContent(result: WrittenResult, marks: ResultMarks = {}): string {
  const fields = [`"success":${result.success}`]
  if (result.data !== undefined) fields.push(`"data":${result.data}`)
  if (!result.success) fields.push(`"error":${JSON.stringify(result.error)}`)
  fields.push(`"execution_time":${(marks.executionTime ?? 0).toFixed(3)}`)
  if (marks.cached) fields.push('"cached":true')
  if (marks.duplicateOf !== undefined)
    fields.push(`"duplicate":true,"duplicate_of":${JSON.stringify(marks.duplicateOf)}`)
  if (marks.skipped) fields.push('"skipped":true')
  if (marks.changedByUser !== undefined && marks.changedByUser.length > 0)
    fields.push(`"changed_by_user":${JSON.stringify(marks.changedByUser)}`)
  if (marks.approvedArguments !== undefined)
    fields.push(`"approved_arguments":${marks.approvedArguments}`)
  return `{${fields.join(',')}}`
}

/** A result that is a single string is stored as that string, not as JSON. */
function readableText(data: string): string {
  if (!data.startsWith('"')) return data
  const value: unknown = JSON.parse(data)
  return typeof value === 'string' ? value : data
}

const toJson = (data: unknown): string => JSON.stringify(data, expressible) ?? 'null'

function expressible(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof Set) return [...value]
  return value
}

const cut = (text: string, length: number): string =>
  text.length <= length
    ? text
    : `${text.slice(0, length)}… (${text.length - length} more characters)`
