// A finding of the doctor and its printed form.
import type { FindingCode } from '../protocol/admin/finding-code.ts'
import type { DescribedFailure } from '../protocol/failures/stored.ts'

/** One result of a check. */
export interface Finding {
  /** `fail`: the server or a configured feature does not work. `warn`: it works, but not as well as it could. */
  state: 'ok' | 'warn' | 'fail'
  /** The finding by name, which the page translates. A finding that the page does not know is shown as `detail`. */
  code: FindingCode
  params: Readonly<Record<string, string | number>>
  subject: string
  /** The finding as text. */
  detail: string
  /** How to fix it. */
  advice?: string
}

/** A finding that needs no action. */
export const fine = (
  code: FindingCode,
  subject: string,
  detail: string,
  params: Finding['params'] = {},
): Finding => ({ state: 'ok', code, params, subject, detail })

/** A stored failure as parameters: the page translates `failure`, and shows `reason` if it does not know it. */
export const failedBy = ({ reason, message, params }: DescribedFailure): Finding['params'] => ({
  ...params,
  reason: message,
  failure: reason,
})

/** One line per finding, and a second one with the advice. */
export const formatFinding = ({ state, subject, detail, advice }: Finding): string =>
  `${STATE_MARKS[state]} ${subject}: ${detail}${advice === undefined ? '' : `\n       → ${advice}`}`

const STATE_MARKS = { ok: '[ ok ]', warn: '[warn]', fail: '[FAIL]' }
