// The steps of an answer between its texts, folded into one line, for shared copies and exports.
import { escapeHtml } from '../lib/escape-html.ts'
import type { DocumentTexts } from './document-texts.ts'

/** Fewer steps stay lines of their own. A call and its result are one step. */
const MIN_FOLDED = 2

type AnyStep = { type: string; name?: string | undefined }

/**
 * The steps in order, but each result after its call: those between two texts are one group, each text is a group of its own. Calls
 * of one iteration come before their results, which have the same order.
 */
export function groupSteps<Step extends AnyStep>(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = []
  for (const step of steps) {
    const last = groups.at(-1)
    if (last === undefined || step.type === 'text' || last[0]?.type === 'text') groups.push([step])
    else last.push(step)
  }
  return groups.map((group) => withResults(group))
}

function withResults<Step extends AnyStep>(group: readonly Step[]): Step[] {
  const results = group.filter(({ type }) => type === 'tool_result')
  const ordered = group.flatMap((step): Step[] => {
    if (step.type === 'tool_result') return []
    const at = step.type === 'tool_call' ? results.findIndex(({ name }) => name === step.name) : -1
    return at < 0 ? [step] : [step, ...results.splice(at, 1)]
  })
  // What is left are results whose calls are not shown.
  return [...ordered, ...results]
}

/** What stands before and after the HTML of a group; null if it needs no line of its own. */
export function foldOf(
  group: readonly AnyStep[],
  texts: DocumentTexts,
): { start: string; end: string } | null {
  const count = group.filter(({ type }) => type !== 'tool_result').length
  if (count < MIN_FOLDED) return null
  const summary = escapeHtml(`${texts.steps}${texts.colon}${count}`)
  return { start: `<details class="steps"><summary>${summary}</summary>\n`, end: '</details>\n' }
}
