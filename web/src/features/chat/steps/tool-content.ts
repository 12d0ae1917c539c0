// Reads tool calls and results for display: arguments in one line, the outcome, the duration.
import { visibleText } from '../../../../../server/protocol/runs/visible-text.ts'
import { fieldsOf, listIn, numberIn, parseJson, textIn } from '../../../lib/read-json.ts'

/** The state of a call. */
export type ToolState = 'running' | 'done' | 'failed' | 'skipped' | 'interrupted'

/** The outcome of a tool call, read from JSON that may be incomplete. `data` and `error` are as the tool returned them. */
export type Outcome = {
  success: boolean
  data: unknown
  error: unknown
  /** Seconds. */
  executionTime: number | undefined
  cached: boolean
  skipped: boolean
}

/** Parses a result of the executor; null if it has another form. */
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

/** Indented JSON, or the text itself if it is not JSON. */
export const pretty = (value: unknown): string => {
  if (typeof value === 'string') {
    const parsed = parseJson(value)
    return typeof parsed === 'object' && parsed !== null ? JSON.stringify(parsed, null, 2) : value
  }
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

/**
 * Arguments for an approval, indented and with hidden characters escaped. The server escapes them too, but parsing the
 * text to indent it undoes that.
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

/** The most informative argument in one line: the query, the path, or the names or texts in a list. */
export function summarize(argumentsText: string): string {
  const parsed = parseJson(argumentsText)
  if (typeof parsed !== 'object' || parsed === null) return oneLine(argumentsText).slice(0, 160)
  const entries = Object.entries(parsed)
  for (const name of TITLE_ARGUMENTS) {
    const value = entries.find(([key]) => key === name)?.[1]
    if (typeof value === 'string' && value !== '') return oneLine(value).slice(0, 160)
  }
  const [first] = entries
  const names = listIn(first?.[1])
    .map(fieldsOf)
    .map(({ name, text }) => textIn(name) ?? textIn(text))
  if (names.length > 0 && names.every((name) => name !== undefined))
    return oneLine(names.join(' · ')).slice(0, 160)
  return first === undefined ? '' : oneLine(first[1]).slice(0, 160)
}
