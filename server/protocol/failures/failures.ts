// Every reason for which a request is refused or a run ends: its error code and its English text. The one list of both.
import type { ErrorParams, errorCodes } from '../error.ts'
import { accessFailures } from './access.ts'
import { conversationsFailures } from './conversations.ts'
import { filesFailures } from './files.ts'
import { modelsFailures } from './models.ts'
import { runsFailures } from './runs.ts'
import { storeFailures } from './store.ts'
import { fillIn, type ParamNames } from './text.ts'

/**
 * `reason` → `[error, text]`. A response carries all three and the values of the text's `{{parameters}}`, so that a
 * page can translate by `reason` and falls back to the English text for a reason it does not know.
 */
export const failures = {
  ...accessFailures,
  ...conversationsFailures,
  ...filesFailures,
  ...modelsFailures,
  ...runsFailures,
  ...storeFailures,
} as const satisfies Record<string, readonly [keyof typeof errorCodes, string]>

export type FailureReason = keyof typeof failures

/** The parameters that the text of a reason needs; sizes come as text with their unit ("5 MB"). */
export type FailureParams<Reason extends FailureReason> = Record<
  ParamNames<(typeof failures)[Reason][1]>,
  string | number
>

/** The English text of a reason with its parameters filled in. */
export const failureText = (reason: FailureReason, params: ErrorParams): string =>
  fillIn(failures[reason][1], params)
