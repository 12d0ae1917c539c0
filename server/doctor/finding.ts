// What the doctor found, and how it is printed.

export interface Finding {
  /** `fail`: the server or a part that is asked for does not work. `warn`: it works, but worse than it could. */
  state: 'ok' | 'warn' | 'fail'
  subject: string
  /** What was seen. */
  detail: string
  /** What to do about it. */
  advice?: string
}

export const fine = (subject: string, detail: string): Finding => ({ state: 'ok', subject, detail })

/** One line for each finding, and a second one for what to do. */
export const formatFinding = ({ state, subject, detail, advice }: Finding): string =>
  `${marks[state]} ${subject}: ${detail}${advice === undefined ? '' : `\n       → ${advice}`}`

const marks = { ok: '[ ok ]', warn: '[warn]', fail: '[FAIL]' }
