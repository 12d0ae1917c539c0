// Reads a tool call and its result for people: arguments in one line, the outcome, the duration.
import { visibleText } from '../../../../../server/protocol/runs/visible-text.ts'
import { fieldsOf, listIn, numberIn, parseJson, textIn } from '../../../lib/read-json.ts'

/** The state of a call. */
export type ToolState = 'waiting' | 'running' | 'done' | 'failed' | 'skipped' | 'interrupted'

/**
 * The content of a tool result, read from JSON that may be incomplete; `data` and `error` are as
 * the tool returned them.
 */
export type Outcome = {
  success: boolean
  data: unknown
  error: unknown
  /** Seconds. */
  executionTime: number | undefined
  cached: boolean
  skipped: boolean
}

/** The result as the executor wrote it; null when it does not have that form. */
export const readOutcome = (content: string): Outcome | null => {
  const fields = fieldsOf(parseJson(content))
  if (typeof fields.success !== 'boolean' && fields.skipped !== true) return null
  return {
    success: fields.success === true,
    data: fields.data,
    error: fields.error,
    executionTime: numberIn(fields.execution_time),
    cached: fields.cached === true,
    skipped: fields.skipped === true,
  }
}

/** Pretty-printed JSON, or the text itself when it is not JSON. */
export const pretty = (value: unknown): string => {
  if (typeof value === 'string') {
    const parsed = parseJson(value)
    return typeof parsed === 'object' && parsed !== null ? JSON.stringify(parsed, null, 2) : value
  }
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

/**
 * Arguments to decide on, with hidden characters escaped. The server escapes them too, but that is undone when the text is
 * parsed to be indented.
 */
export const prettyVisible = (argumentsText: string): string => visibleText(pretty(argumentsText))

const oneLine = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replace(/\s+/g, ' ').trim()

const TITLE_ARGUMENTS = [
  'query',
  'expression',
  'path',
  'url',
  'city',
  'command',
  'pattern',
  'timezone',
  'task',
  'fact',
  'to',
  'name',
]

/** The most telling argument, in one line: the query, the path, the names of what is listed. */
export function summarize(argumentsText: string): string {
  const parsed = parseJson(argumentsText)
  if (typeof parsed !== 'object' || parsed === null) return oneLine(argumentsText).slice(0, 160)
  const entries = Object.entries(parsed)
  for (const name of TITLE_ARGUMENTS) {
    const value = entries.find(([key]) => key === name)?.[1]
    if (typeof value === 'string' && value !== '') return oneLine(value).slice(0, 160)
  }
  const [first] = entries
  const names = listIn(first?.[1]).map((one) => textIn(fieldsOf(one).name))
  if (names.length > 0 && names.every((name) => name !== undefined))
    return oneLine(names.join(' · ')).slice(0, 160)
  return first === undefined ? '' : oneLine(first[1]).slice(0, 160)
}
