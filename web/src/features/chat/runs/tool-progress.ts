// The progress of a running tool: output that grows up to a limit, or a state that is replaced.
import type { TFunction } from 'i18next'
import type { McpAppReference } from '../../../../../server/protocol/mcp-app.ts'
import type {
  SubAgentView,
  ToolProgress,
} from '../../../../../server/protocol/runs/tool-progress.ts'
import { wholeNumber } from '../../../lib/format.ts'
import { fieldsOf, listIn, textIn } from '../../../lib/read-json.ts'

/** What the card of a running tool shows besides its arguments. */
export type Progress = {
  /** The end of the program's output. */
  output: string
  /** The state of a program. */
  state: 'starting' | 'running' | null
  agents: readonly SubAgentView[]
  /** How many parts of the work are done. */
  count: Count | null
  /** The app of an MCP server that will show the result. */
  app: McpAppReference | null
}

type Count = Omit<Extract<ToolProgress, { kind: 'count' }>, 'kind'>

const MAX_OUTPUT_CHARACTERS = 20_000

/** The result of a sub-agent; a text is empty if there is none. */
export type SubAgentResult = { response: string; error: string }

/** The response or error of each sub-agent, by name. */
export const subAgentResults = (data: unknown): ReadonlyMap<string, SubAgentResult> =>
  new Map(
    listIn(fieldsOf(data).results).flatMap((one) => {
      const { task_name: name, response, error } = fieldsOf(one)
      return typeof name === 'string'
        ? [[name, { response: textIn(response) ?? '', error: textIn(error) ?? '' }] as const]
        : []
    }),
  )

const NO_PROGRESS: Progress = { output: '', state: null, agents: [], count: null, app: null }

/** The progress after another progress event. */
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
    case 'app':
      return { ...before, app: progress.app }
    case 'count': {
      const { kind: _kind, ...count } = progress
      return { ...before, count }
    }
  }
}

/** The count in words: "3 of 10 pages read", "1,204 files searched". */
export function countText({ done, total, unit }: Count, t: TFunction, language: string): string {
  const shown = wholeNumber(done, language)
  const name = unit ?? 'parts'
  return total === undefined
    ? t(`steps.count.${name}`, { count: done, shown })
    : t(`steps.countOf.${name}`, { count: total, shown, total: wholeNumber(total, language) })
}
