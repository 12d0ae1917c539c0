// A scripted model that acts as a parent agent and its sub-agents.
import type { Upstream, UpstreamRequest } from '../../support/provider/upstream.ts'
import { type Turn, turn } from '../../support/provider/upstream-turns.ts'

const isSubAgent = (request: UpstreamRequest): boolean =>
  String(request.messages[0]?.content).startsWith('You are a sub-agent')
/** The instruction of the sub-agent that sends the request. */
const taskOf = (request: UpstreamRequest): string => String(request.messages[1]?.content)
/** The names of the tools that a request offers. */
export const toolsOf = (request: UpstreamRequest): string[] => {
  const tools = (request.body.tools ?? []) as { function: { name: string } }[]
  return tools.map((tool) => tool.function.name)
}
export const toolMessages = (request: UpstreamRequest) =>
  request.messages.filter(({ role }) => role === 'tool')

/** Scripts the parent, which calls `multi_agent` with the given tasks and then says 'All done.', and its sub-agents. */
export const createTeam = (upstream: Upstream) => ({
  parentAsksFor: (tasks: object[]): void =>
    upstream.program((request) => {
      if (isSubAgent(request)) return undefined
      return toolMessages(request).length === 0
        ? turn.toolCalls([{ id: 'call_team', name: 'multi_agent', arguments: { tasks } }])
        : turn.text('All done.')
    }),
  subAgents: (answer: (request: UpstreamRequest, task: string) => Turn): void =>
    upstream.program((request) =>
      isSubAgent(request) ? answer(request, taskOf(request)) : undefined,
    ),
})
