// Performs the tasks of a tool call in parallel, each with a sub-agent, and reports their progress.
import pLimit from 'p-limit'
import type { AgentOutcome, AgentTask, ToolContext } from '../tools/definition.ts'
import type { RunScope } from './run-scope.ts'
import { performSubAgent, type SubAgentLimits } from './sub-agent.ts'
import { createSubAgentLog } from './sub-agent-log.ts'
import { toolsForSubAgent } from './sub-agent-tools.ts'
import { createThrottle, liveView, viewOf } from './sub-agent-view.ts'

/** Create one per run: parallel calls share the concurrency limit. Returns the `performTasks` of `AgentStarter`. */
export function createSubAgents(scope: RunScope, limits: SubAgentLimits) {
  const slot = pLimit(limits.maxConcurrency)

  return async function performTasks(tasks: readonly AgentTask[], context: ToolContext) {
    const before = await scope.journal.read(context.callId)
    const team = tasks.map((task, position) => ({
      task,
      position,
      log: createSubAgentLog(
        before.filter((one) => one.position === position).map(({ event }) => event),
      ),
      text: null as string | null,
    }))
    const views = () => team.map(({ task, log, text }) => viewOf(task.name, log, text))
    const progress = createThrottle(() =>
      context.progress({ kind: 'agents', agents: views().map(liveView) }),
    )

    const perform = async (member: (typeof team)[number]): Promise<AgentOutcome> => {
      const { task, position, log } = member
      const { tools, unknown } = toolsForSubAgent(scope.tools, task.tools, scope.resources.tools)
      if (unknown.length > 0) {
        const error = `Unknown tools: ${unknown.join(', ')}`
        log.add({ type: 'ended', outcome: { success: false, error } })
        return { success: false, error }
      }
      const onChange = (text: string): void => {
        member.text = text
        progress.changed()
      }
      onChange('')
      const { name, instruction } = task
      const outcome = await performSubAgent(
        { name, instruction, tools },
        { scope, context, position, limits, log, onChange },
      )
      // The outcome is shown even if it could not be stored.
      if (log.outcome === null) log.add({ type: 'ended', outcome })
      progress.changed()
      return outcome
    }
    const outcomes = await Promise.all(team.map((member) => slot(() => perform(member))))
    progress.end()
    return { outcomes, agents: views(), untrusted: scope.isTainted() }
  }
}
