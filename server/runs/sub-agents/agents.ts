// Lets the tools of a run start other agents: sub-agents within the run, and background tasks alongside it.
import type { CallUsage, RunScope } from '../../agent/run-scope.ts'
import type { SubAgentEvent } from '../../agent/sub-agent-log.ts'
import { toolsForSubAgent } from '../../agent/sub-agent-tools.ts'
import { createSubAgents } from '../../agent/sub-agents.ts'
import { addWork, NO_WORK, type SubAgentWork } from '../../protocol/runs/run-timeline.ts'
import type { Approvals } from '../../tools/approval.ts'
import type { AgentStarter, ToolDefinition } from '../../tools/definition.ts'
import type { Taint } from '../approvals/taint.ts'
import type { RunContext } from '../context/context.ts'
import { DEFAULT_CONTEXT_WINDOW } from '../context/read-branch.ts'
import type { PerformedRun } from '../performed-run.ts'
import { startBackgroundTask } from '../start/background-task.ts'

interface Dependencies {
  performed: PerformedRun
  context: RunContext
  /** The tools that sub-agents may use: those that the run's own requests list now. */
  listed: readonly ToolDefinition[]
  request: RunScope['request']
  resources: RunScope['resources']
  approvals: Approvals
  taint: Taint
}

/** Creates the `agents` of the tool context. */
export function createAgentStarter({
  performed: { run, active, usage, journal, timeline, dependencies },
  context,
  listed,
  request,
  resources,
  approvals,
  taint,
}: Dependencies): AgentStarter {
  const { llm, model, tools } = context
  /** What an event adds to the timeline; undefined for nothing. */
  async function workOf(
    event: SubAgentEvent,
    used: readonly CallUsage[],
  ): Promise<SubAgentWork | undefined> {
    const tool_calls = event.type === 'result' ? 1 : 0
    if (used.length + tool_calls === 0) return undefined
    let work: SubAgentWork = { ...NO_WORK, tool_calls }
    for (const call of used) {
      const { prompt_tokens, completion_tokens } = call.usage
      const cost = await usage.priceOf(call)
      work = addWork(work, { ...NO_WORK, model_calls: 1, prompt_tokens, completion_tokens, cost })
    }
    return work
  }
  const performTasks = createSubAgents(
    {
      llm,
      request,
      contextWindow: model.context_window ?? DEFAULT_CONTEXT_WINDOW,
      tools: listed,
      resources,
      approvals,
      isTainted: taint.isTainted,
      isBudgetLeft: () => usage.isBudgetLeft(),
      whenOwner: () => dependencies.whenOwner(active.signal),
      journal: {
        async read(callId) {
          const stored = await journal.read(callId)
          for (const { event } of stored) timeline.addSubAgentWork(callId, event.work)
          return stored
        },
        async write(callId, position, event, used, result) {
          const mark = result === undefined ? undefined : taint.record(result)
          const work = await workOf(event, used)
          await journal.write(callId, position, { ...event, work }, used, mark)
          timeline.addSubAgentWork(callId, work)
        },
      },
    },
    dependencies.settings.subAgents,
  )
  return {
    performTasks,
    startBackgroundTask: (task) => {
      const allowed = toolsForSubAgent(tools, undefined, context.allTools).tools
      const names = allowed.map(({ name }) => name)
      return startBackgroundTask(run, { ...task, tools: names }, dependencies)
    },
  }
}
