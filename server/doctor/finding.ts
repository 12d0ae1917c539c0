// A finding of the doctor and its printed form.

export interface Finding {
  /** `fail`: the server or a configured feature does not work. `warn`: it works, but not as well as it could. */
  state: 'ok' | 'warn' | 'fail'
  subject: string
  /** What was found. */
  detail: string
  /** How to fix it. */
  advice?: string
}

export const fine = (subject: string, detail: string): Finding => ({ state: 'ok', subject, detail })

/** One line per finding, and a second one with the advice. */
export const formatFinding = ({ state, subject, detail, advice }: Finding): string =>
  `${STATE_MARKS[state]} ${subject}: ${detail}${advice === undefined ? '' : `\n       → ${advice}`}`

const STATE_MARKS = { ok: '[ ok ]', warn: '[warn]', fail: '[FAIL]' }
