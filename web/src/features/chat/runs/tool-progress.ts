// Live output of a running tool, kept small: text that grows, or a state that is replaced.
import type { TFunction } from 'i18next'
import type {
  SubAgentView,
  ToolProgress,
} from '../../../../../server/protocol/runs/tool-progress.ts'
import { wholeNumber } from '../../../lib/format.ts'
import { fieldsOf, listIn, textIn } from '../../../lib/read-json.ts'

/** What the card of a running tool shows besides its arguments. */
export type Progress = {
  /** The newest part of what the program has written. */
  output: string
  /** How far a program has come. */
  state: 'starting' | 'running' | null
  agents: readonly SubAgentView[]
  /** How many parts of the work are done. */
  count: Count | null
}

type Count = Omit<Extract<ToolProgress, { kind: 'count' }>, 'kind'>

const MAX_OUTPUT_CHARACTERS = 20_000

/** What the tool result says of a sub-agent; empty where it says nothing. */
export type SubAgentResult = { response: string; error: string }

/** What each sub-agent returned, or why it failed, by name. */
export const subAgentResults = (data: unknown): ReadonlyMap<string, SubAgentResult> =>
  new Map(
    listIn(fieldsOf(data).results).flatMap((one) => {
      const { task_name: name, response, error } = fieldsOf(one)
      return typeof name === 'string'
        ? [[name, { response: textIn(response) ?? '', error: textIn(error) ?? '' }] as const]
        : []
    }),
  )

const NO_PROGRESS: Progress = { output: '', state: null, agents: [], count: null }

/** What to show after another progress event. */
export function foldProgress(before: Progress = NO_PROGRESS, progress: ToolProgress): Progress {
  switch (progress.kind) {
    case 'state':
      return { ...before, state: progress.state }
    case 'output':
      return { ...before, output: (before.output + progress.text).slice(-MAX_OUTPUT_CHARACTERS) }
    case 'text':
      return {
        ...before,
        output: `${before.output}${progress.text}\n`.slice(-MAX_OUTPUT_CHARACTERS),
      }
    case 'agents':
      return { ...before, agents: progress.agents }
    case 'count': {
      const { kind: _kind, ...count } = progress
      return { ...before, count }
    }
  }
}

/** How far the work is, in words: "3 of 10 pages read", "1,204 files searched". */
export function countText({ done, total, unit }: Count, t: TFunction, language: string): string {
  const shown = wholeNumber(done, language)
  const name = unit ?? 'parts'
  return total === undefined
    ? t(`steps.count.${name}`, { count: done, shown })
    : t(`steps.countOf.${name}`, { count: total, shown, total: wholeNumber(total, language) })
}
