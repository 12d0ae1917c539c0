// The references to citations in the text of an answer.

const FENCE =
  /(^|\n) {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n[\s\S]*?(?:\n {0,3}\2[`~]*[ \t]*(?=\n|$)|$)/g
const REFERENCE = /\[(c\d{1,6})\]/g

/**
 * The ids that a text refers to as `[c1]`, each once, in order. References in code are ignored. The work grows as the text
 * does, whatever it contains: every listing of messages does it for each answer.
 */
export function citedIds(text: string): string[] {
  if (!text.includes('[c')) return []
  const prose = withoutCodeSpans(text.replace(FENCE, '\n'))
  return [...new Set([...prose.matchAll(REFERENCE)].map((found) => found[1] ?? ''))]
}

/** A code span reaches from a run of backticks to the next run of the same length; a run without one is text. */
function withoutCodeSpans(text: string): string {
  const runs = backtickRuns(text)
  const nextOfLength = new Map<number, Run>()
  for (const run of runs.reverse()) {
    run.next = nextOfLength.get(run.length)
    nextOfLength.set(run.length, run)
  }
  const prose: string[] = []
  let from = 0
  for (const { start, next } of runs.reverse()) {
    if (next === undefined || start < from) continue
    prose.push(text.slice(from, start))
    from = next.start + next.length
  }
  return prose.join('') + text.slice(from)
}

/** A run of backticks. */
interface Run {
  start: number
  length: number
  /** The next one of the same length. */
  next: Run | undefined
}

/** All runs, in order. */
function backtickRuns(text: string): Run[] {
  const runs: Run[] = []
  for (let start = text.indexOf('`'); start >= 0; ) {
    let end = start + 1
    while (text[end] === '`') end += 1
    runs.push({ start, length: end - start, next: undefined })
    start = text.indexOf('`', end)
  }
  return runs
}
