// What a check of a schedule that has failed has found: stored in English, and recognised by whoever shows it in another language.

/** By key. With another wording, what is already stored would no longer be recognised. */
const FINDINGS = {
  noMatch: '0 files match',
  unchanged: 'nothing changed',
  noFile: 'there is no such file',
  noValue: 'there is no such value',
  notFound: 'not found',
  calls: '{{number}} calls',
  succeeded: '{{number}} of {{all}} calls succeeded',
  notSent: 'nothing was sent',
  notAccepted: 'not accepted',
  exitCode: 'exit code {{number}}',
  commandsOff: 'commands are off',
} as const

/** A key of what was found; each language has its text. */
type Finding = keyof typeof FINDINGS

const PATTERNS = Object.entries(FINDINGS).map(([finding, text]) => ({
  finding: finding as Finding, // a key of the object above
  pattern: new RegExp(`^${text.replaceAll(/\{\{(\w+)\}\}/g, '(?<$1>-?\\d+)')}$`),
}))

/** The text that is stored. */
export const findingText = (
  finding: Finding,
  { number = 0, all = 0 }: { number?: number; all?: number } = {},
): string => FINDINGS[finding].replace('{{number}}', String(number)).replace('{{all}}', String(all))

/** What a stored text says; null for any other, such as the names of files, a value, or why nothing was found. */
export function readFinding(
  detail: string,
): { finding: Finding; number: string; all: string } | null {
  for (const { finding, pattern } of PATTERNS) {
    const match = pattern.exec(detail)
    if (match !== null)
      return { finding, number: match.groups?.number ?? '', all: match.groups?.all ?? '' }
  }
  return null
}
