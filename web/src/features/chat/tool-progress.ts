// Live output of a running tool, kept small: text that grows, or a state that is replaced.
import { fieldsOf, listIn, textIn } from '../../lib/read-json.ts'

export type SubAgent = {
  name: string
  state: string
  /** The end of what it last wrote. */
  text: string
  calls: readonly { name: string; arguments: string; state: string }[]
}
export type Progress = {
  /** The newest part of what the program has written. */
  output: string
  /** What the tool says about itself, such as "starting". */
  state: string | null
  agents: readonly SubAgent[]
}

const longestOutput = 20_000

/** Sub-agents as a tool tells of them, while they work and when they are done. */
export const subAgentsIn = (value: unknown): SubAgent[] =>
  listIn(value).map((one) => {
    const agent = fieldsOf(one)
    return {
      name: textIn(agent.name) ?? '',
      state: textIn(agent.state) ?? '',
      text: textIn(agent.text) ?? '',
      calls: listIn(agent.calls).map((call) => ({
        name: textIn(fieldsOf(call).name) ?? '',
        arguments: textIn(fieldsOf(call).arguments) ?? '',
        state: textIn(fieldsOf(call).state) ?? '',
      })),
    }
  })

/** Why sub-agents failed, by name, where the answer of their tool says so. */
export const failuresIn = (data: unknown): ReadonlyMap<string, string> =>
  new Map(
    listIn(fieldsOf(data).results).flatMap((one) => {
      const { task_name: name, error } = fieldsOf(one)
      return typeof name === 'string' && typeof error === 'string' ? [[name, error] as const] : []
    }),
  )

/** What is shown after another piece of progress arrived. Anything unknown is ignored. */
export function foldProgress(before: Progress | undefined, piece: unknown): Progress {
  const old = before ?? { output: '', state: null, agents: [] }
  const fields = fieldsOf(piece)
  const agents = subAgentsIn(fields.agents)
  return {
    output: (old.output + (textIn(fields.text) ?? '')).slice(-longestOutput),
    state: textIn(fields.state) ?? old.state,
    agents: agents.length > 0 ? agents : old.agents,
  }
}
