// Why a Python program was not run, or how it was ended, in the reader's language. The server's text is written for the model,
// in English.
import type { TFunction } from 'i18next'

const LINES: readonly (readonly [RegExp, (found: readonly string[], t: TFunction) => string])[] = [
  [/^Not allowed at strictness "[^"]*":$/, (_, t) => t('prose.code.notAllowed.title')],
  [
    /^ {2}line (\d+): import of module '([^']*)'$/,
    ([, line = '', name = ''], t) => `  ${t('prose.code.notAllowed.module', { line, name })}`,
  ],
  [
    /^ {2}line (\d+): use of '([^']*)'$/,
    ([, line = '', name = ''], t) => `  ${t('prose.code.notAllowed.name', { line, name })}`,
  ],
  [/^Allowed modules: (.*)$/, ([, names = ''], t) => t('prose.code.notAllowed.modules', { names })],
  [/^Stopped at the time limit: /, (_, t) => t('prose.code.ended.timed_out')],
  [/^Stopped: the program exceeded its memory/, (_, t) => t('prose.code.ended.out_of_memory')],
  [/^Stopped before the program ended\.$/, (_, t) => t('prose.code.ended.stopped')],
  [/^The interpreter crashed: /, (_, t) => t('prose.code.ended.crashed')],
  // What follows is Python's own message.
  [
    /^The program cannot be parsed: (.*)$/,
    ([, reason = ''], t) => t('prose.code.notAllowed.unreadable', { reason }),
  ],
]

/** Every line that the server writes, translated; other lines, such as those of Python, as they are. */
export const programFault = (text: string, t: TFunction): string =>
  text
    .split('\n')
    .map((line) => {
      for (const [pattern, translated] of LINES) {
        const found = pattern.exec(line)
        if (found !== null) return translated(found, t)
      }
      return line
    })
    .join('\n')
