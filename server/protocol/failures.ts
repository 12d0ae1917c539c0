// The one list of reasons why requests are refused and runs fail, with their error codes and English texts.
import type { ParamNames } from '../../locales/parameters.ts'
import type { ERROR_CODES, ErrorParams } from './error.ts'
import { ACCESS_FAILURES } from './failures/access.ts'
import { ADMINISTRATION_FAILURES } from './failures/administration.ts'
import { APP_FAILURES } from './failures/apps.ts'
import { CONVERSATION_FAILURES } from './failures/conversations.ts'
import { FILE_FAILURES } from './failures/files.ts'
import { MODEL_FAILURES } from './failures/models.ts'
import { RUN_FAILURES } from './failures/runs.ts'
import { SCHEDULE_FAILURES } from './failures/schedules.ts'
import { STORE_FAILURES } from './failures/store.ts'

/**
 * `reason` → `[error, text]`. A response carries all three and the values of the text's `{{parameters}}`, so that a
 * page can translate by `reason` and falls back to the English text for a reason it does not know.
 */
export const FAILURES = {
  ...ACCESS_FAILURES,
  ...ADMINISTRATION_FAILURES,
  ...APP_FAILURES,
  ...CONVERSATION_FAILURES,
  ...FILE_FAILURES,
  ...MODEL_FAILURES,
  ...RUN_FAILURES,
  ...SCHEDULE_FAILURES,
  ...STORE_FAILURES,
} as const satisfies Record<string, readonly [keyof typeof ERROR_CODES, string]>

/** Why a request was refused: a name in `FAILURES`, with its text and its parameters. */
export type FailureReason = keyof typeof FAILURES

/** Whether a text names a failure of the list. */
export const isFailureReason = (reason: string): reason is FailureReason =>
  Object.hasOwn(FAILURES, reason)

/** The parameters that the text of a reason needs; sizes come as text with their unit ("5 MB"). */
export type FailureParams<Reason extends FailureReason> = Record<
  ParamNames<(typeof FAILURES)[Reason][1]>,
  string | number | string[]
>

/** The English text of a reason with its parameters filled in. */
export const failureText = (reason: FailureReason, params: ErrorParams): string =>
  fillIn(FAILURES[reason][1], params)

/** Parameters that are moments, as ISO 8601 in UTC. */
export const MOMENT_PARAMS: ReadonlySet<string> = new Set(['renews_at'])

/** A parameter as the server writes it into its English text. */
export function inEnglish(name: string, value: ErrorParams[string] | undefined): string {
  if (Array.isArray(value)) return value.join(', ')
  const text = String(value ?? '')
  // Only the page knows the reader's time zone.
  return MOMENT_PARAMS.has(name) ? `${text.slice(0, 16).replace('T', ' ')} UTC` : text
}

/** An English text with its parameters filled in. */
export const fillIn = (text: string, params: ErrorParams): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => inEnglish(name, params[name]))
