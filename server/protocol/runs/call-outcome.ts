// What a settled tool call did, as receipts need it: read from its stored result, never from the text of the answer.
import { z } from 'zod'
import { fieldsOf, numberIn, parseJson, textIn } from '../read-json.ts'
import { canonicalToolName } from '../tool-names/tool-aliases.ts'

/** Characters of an error that receipts show. */
export const MAX_ERROR_CHARACTERS = 300

/** The result of a call without its contents. */
export const CallOutcome = z.object({
  success: z.boolean(),
  /** Whether the tool did not run: a person rejected the call, nobody decided in time, or nobody could be asked. */
  skipped: z.boolean(),
  error: z.string().optional(),
  /** The arguments that a person approved instead of the model's. */
  arguments: z.record(z.string(), z.unknown()).optional(),
  /** Of a command: its exit code; null if it was killed. Absent if none ran. */
  exit_code: z.int().nullable().optional(),
  /** Of a message: its delivery in the outbox, and how that stood when the call ended. */
  delivery_id: z.string().optional(),
  delivery_status: z.string().optional(),
  /** Of a message to a conversation: the message that was added. */
  message_id: z.string().optional(),
  /** Of a saved fact: the fact. */
  fact: z.string().optional(),
  /** Of a schedule that was made or changed: its id. */
  schedule_id: z.string().optional(),
})
export type CallOutcome = z.infer<typeof CallOutcome>

/** Tools whose results say more than whether they succeeded. None of them has an alias. */
export const DETAILED_TOOLS: ReadonlySet<string> = new Set([
  'exec',
  'message',
  'save_memory',
  'schedule_create',
  'schedule_change',
])
/** How the stored result of a successful call begins. */
export const SUCCESS_BEGINS = '{"success":true'
/** The field of a stored result with the arguments that a person changed. */
export const APPROVED_KEY = '"approved_arguments":'

/** A result as it is stored. */
export interface StoredResult {
  /** As the model called the tool. */
  name: string
  /** JSON text for the model. */
  content: string
  skipped: boolean
  artifact?: unknown
}

/** Reads the outcome of a stored result. */
export function outcomeOf({ name: called, content, skipped, artifact }: StoredResult): CallOutcome {
  const name = canonicalToolName(called)
  // Most results are long, and say in their first characters all that is needed.
  if (
    !skipped &&
    !DETAILED_TOOLS.has(name) &&
    content.startsWith(SUCCESS_BEGINS) &&
    !content.includes(APPROVED_KEY)
  )
    return { success: true, skipped: false }
  const result = fieldsOf(parseJson(content))
  const success = result.success === true
  const error = textIn(result.error)
  const approved = result.approved_arguments
  const base: CallOutcome = {
    success,
    skipped,
    ...(success || error === undefined ? {} : { error: error.slice(0, MAX_ERROR_CHARACTERS) }),
    ...(approved === undefined ? {} : { arguments: { ...fieldsOf(approved) } }),
  }
  return skipped ? base : { ...base, ...detailsOf(name, fieldsOf(result.data), artifact) }
}

function detailsOf(
  name: string,
  data: Readonly<Record<string, unknown>>,
  artifact: unknown,
): Partial<CallOutcome> {
  if (name === 'exec') {
    const shown = fieldsOf(artifact)
    const ran = 'exit_code' in data || 'exit_code' in shown
    return ran ? { exit_code: numberIn(data.exit_code) ?? numberIn(shown.exit_code) ?? null } : {}
  }
  if (name === 'message') {
    const delivery_id = textIn(data.delivery_id)
    const delivery_status = textIn(data.status)
    const message_id = textIn(data.message_id)
    return {
      ...(delivery_id === undefined ? {} : { delivery_id }),
      ...(delivery_status === undefined ? {} : { delivery_status }),
      ...(message_id === undefined ? {} : { message_id }),
    }
  }
  if (name === 'schedule_create' || name === 'schedule_change') {
    const schedule_id = textIn(data.id)
    return schedule_id === undefined ? {} : { schedule_id }
  }
  const fact = name === 'save_memory' && data.saved === true ? textIn(data.fact) : undefined
  return fact === undefined ? {} : { fact }
}
