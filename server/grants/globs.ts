// Patterns with `*` and `**`, compared in a time that is bounded whatever the pattern and the text are.

/** A pattern with stars. `**` stands for any text, `*` for any text without `/`; everything else for itself. */
type GlobPart = { kind: 'text'; text: string } | { kind: 'star' } | { kind: 'stars' }

/** Steps that the comparisons of an argument may take together, some milliseconds. A text that needs more does not match. */
const MAX_STEPS = 50_000
/** Characters that a search passes over in the time of a step. */
const SCANNED_PER_STEP = 64
/** Characters of a pattern that are compared at one place in the time of a step. */
const COMPARED_PER_STEP = 16

/** What comparisons may still cost. */
export interface GlobBudget {
  steps: number
}

/** A budget for all texts of one argument. */
export const globBudget = (): GlobBudget => ({ steps: MAX_STEPS })

function partsOf(glob: string): GlobPart[] {
  // Three stars or more are two.
  return glob
    .split(/(\*+)/)
    .filter((part) => part !== '')
    .map((part): GlobPart => {
      if (part === '*') return { kind: 'star' }
      return part.startsWith('*') ? { kind: 'stars' } : { kind: 'text', text: part }
    })
}

/** Positions in a text, from the first to the last of them. */
type Span = readonly [first: number, last: number]

/** Compiles a pattern into the test whether a whole text matches it. */
export function compileGlob(glob: string): (text: string, budget?: GlobBudget) => boolean {
  const parts = partsOf(glob)
  return (text, budget = globBudget()) => {
    // Where the parts so far may end: spans in order that do not touch.
    let ends: Span[] = [[0, 0]]
    for (const part of parts) {
      if (part.kind === 'text') ends = endsAfter(part.text, text, ends, budget)
      else if (part.kind === 'stars') ends = ends.slice(0, 1).map(([first]) => [first, text.length])
      else ends = endsOfSegments(text, ends, budget)
      if (ends.length === 0) return false
    }
    return ends.at(-1)?.[1] === text.length
  }
}

/** Where the part ends that begins in one of the spans; none if the budget is used up. */
function endsAfter(part: string, text: string, spans: readonly Span[], budget: GlobBudget): Span[] {
  const ends: Span[] = []
  /** Where the part is next, from the place on where it was last looked for. */
  let at = -1
  const find = (from: number): number => {
    const found = text.indexOf(part, from)
    const scanned = (found === -1 ? text.length : found) - from
    budget.steps -= 1 + Math.floor(scanned / SCANNED_PER_STEP)
    return found
  }
  for (const [first, last] of spans) {
    if (first === last) {
      budget.steps -= 1 + Math.floor(part.length / COMPARED_PER_STEP)
      if (budget.steps < 0) return []
      if (text.startsWith(part, first)) ends.push([first + part.length, first + part.length])
      continue
    }
    // A place behind the span before is the first one in this span, too, so that no text is searched twice.
    if (at < first) at = find(first)
    while (at !== -1 && at <= last) {
      if (budget.steps < 0) return []
      ends.push([at + part.length, at + part.length])
      at = find(at + 1)
    }
    if (at === -1 || budget.steps < 0) break
  }
  return budget.steps < 0 ? [] : ends
}

/** Where a `*` ends that begins in one of the spans: anywhere up to the next `/`. None if the budget is used up. */
function endsOfSegments(text: string, spans: readonly Span[], budget: GlobBudget): Span[] {
  /** The end of the segment that was looked for last. */
  let end = -1
  const ends = spans.map(([first, last]): Span => {
    if (end < last) {
      end = segmentEnd(text, last)
      budget.steps -= 1 + Math.floor((end - last) / SCANNED_PER_STEP)
    }
    return [first, end]
  })
  return budget.steps < 0 ? [] : joined(ends)
}

/** The end of the part of the text between two `/` in which the position is. */
function segmentEnd(text: string, position: number): number {
  const slash = text.indexOf('/', position)
  return slash === -1 ? text.length : slash
}

/** The same positions without overlaps. */
function joined(spans: readonly Span[]): Span[] {
  const found: Span[] = []
  for (const [first, last] of spans) {
    const before = found.at(-1)
    if (before === undefined || first > before[1]) found.push([first, last])
    else found[found.length - 1] = [before[0], Math.max(before[1], last)]
  }
  return found
}

/** Whether a pattern says nothing about the text, or nothing but how many `/` it has. */
export const isOpenGlob = (glob: string): boolean => /^[*/]*$/.test(glob) && glob.includes('*')
