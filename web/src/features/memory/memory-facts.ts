// Parses the facts in a memory's text: one dated line each below the heading "Agent Memories".
const HEADING = '## Agent Memories'
const UNTRUSTED_MARK = '(from outside text)'
const FACT_LINE = /^[-*]\s+(?:(\d{4}-\d{2}-\d{2}):\s*)?(.+)$/

/** A fact, with its line for removing it. */
export type MemoryFact = {
  /** The line as it is in the text. */
  line: string
  text: string
  /** Empty if the line has no date. */
  date: string
  /** Whether it was learned from outside, for example from a web page. */
  untrusted: boolean
}

/** Calls `visit` for each line that is a fact, in order. */
function visitFacts(content: string, visit: (fact: MemoryFact, index: number) => void): void {
  let inFacts = false
  for (const [index, line] of content.split('\n').entries()) {
    if (/^#{1,2}\s/.test(line)) inFacts = line.trim() === HEADING
    const [, date = '', text = ''] = inFacts ? (FACT_LINE.exec(line.trim()) ?? []) : []
    if (text !== '')
      visit(
        {
          line,
          date,
          text: text.replace(UNTRUSTED_MARK, '').trim(),
          untrusted: text.includes(UNTRUSTED_MARK),
        },
        index,
      )
  }
}

/** All facts, newest first. */
export function factsIn(content: string): MemoryFact[] {
  const facts: MemoryFact[] = []
  visitFacts(content, (one) => facts.unshift(one))
  return facts
}

/** The text without a fact; unchanged if the fact no longer exists. */
export function withoutFact(content: string, line: string): string {
  let found = -1
  visitFacts(content, (one, index) => {
    if (found === -1 && one.line === line) found = index
  })
  return found === -1 ? content : content.split('\n').toSpliced(found, 1).join('\n')
}
