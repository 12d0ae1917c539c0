// The form of a memory's text (`CONTEXT.md`): the user's own text, and facts, one dated line each, below a heading.

/** Facts that tools stored are listed under this heading. All other text is the user's own. */
export const FACTS_HEADING = '## Agent Memories'

/** Ends a fact that was learned from outside, for example from a web page. */
export const UNTRUSTED_MARK = '(from outside text)'

/** A fact of a memory. */
export interface MemoryFact {
  text: string
  /** `2026-03-14`; empty if the line has none. */
  date: string
  /** Whether it was learned from outside. */
  untrusted: boolean
}

const FACT_LINE = /^[-*]\s+(?:(\d{4}-\d{2}-\d{2}):\s*)?(.+)$/

/** A heading of the first or second level: it ends the list of facts, or begins it. */
export const isMemoryHeading = (line: string): boolean => /^#{1,2}\s/.test(line)

/** The lines of a memory in order; `fact` is null for a line that is none, and `isOwn` true for the user's own text. */
export function readMemoryLines(
  lines: readonly string[],
): { line: string; fact: MemoryFact | null; isOwn: boolean }[] {
  let inFacts = false
  return lines.map((line) => {
    if (isMemoryHeading(line)) inFacts = line.trim() === FACTS_HEADING
    const [, date = '', text = ''] = inFacts ? (FACT_LINE.exec(line.trim()) ?? []) : []
    if (text === '') return { line, fact: null, isOwn: !inFacts }
    return {
      line,
      fact: {
        text: text.replace(UNTRUSTED_MARK, '').trim(),
        date,
        untrusted: text.includes(UNTRUSTED_MARK),
      },
      isOwn: false,
    }
  })
}

/** The line of a fact; without a date if it has none. */
export const toFactLine = ({ text, date, untrusted }: MemoryFact): string =>
  `- ${date === '' ? '' : `${date}: `}${text}${untrusted ? ` ${UNTRUSTED_MARK}` : ''}`
