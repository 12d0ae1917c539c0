// Lets the tools of a run start other agents: sub-agents within the run, and background tasks alongside it.
import type { RunScope } from '../../agent/run-scope.ts'
import { toolsForSubAgent } from '../../agent/sub-agent-tools.ts'
import { createSubAgents } from '../../agent/sub-agents.ts'
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
  performed: { run, active, usage, journal, dependencies },
  context,
  listed,
  request,
  resources,
  approvals,
  taint,
}: Dependencies): AgentStarter {
  const { llm, model, tools } = context
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
        read: journal.read,
        write: (callId, position, event, used, result) => {
          const mark = result === undefined ? undefined : taint.record(result)
          return journal.write(callId, position, event, used, mark)
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
