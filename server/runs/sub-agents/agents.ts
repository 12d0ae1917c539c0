// Lets the tools of a run start other agents: sub-agents within the run, and background tasks alongside it.
import type { CallUsage, RunScope } from '../../agent/run-scope.ts'
import type { SubAgentEvent } from '../../agent/sub-agent-log.ts'
import { createSubAgents, toolsForSubAgent } from '../../agent/sub-agents.ts'
import type { Writer } from '../../db/database.ts'
import type { RunGrants } from '../../grants/covering.ts'
import { applyGrant } from '../../grants/use.ts'
import { outcomeOf } from '../../protocol/runs/call-outcome.ts'
import { addWork, NO_WORK, type SubAgentWork } from '../../protocol/runs/run-timeline.ts'
import type { Approvals } from '../../tools/approval.ts'
import type { AgentStarter, ToolDefinition } from '../../tools/definition.ts'
import type { CallResult } from '../../tools/tool-result.ts'
import type { Taint } from '../approvals/taint.ts'
import type { RunContext } from '../context.ts'
import type { PerformedRun } from '../performed-run.ts'
import { startBackgroundTask } from '../start/background-task.ts'
import { limitsOf } from '../state.ts'
import type { RunUsage } from '../usage/usage.ts'

interface Dependencies {
  performed: PerformedRun
  context: RunContext
  /** The tools that sub-agents may use: those that the run's own requests list now. */
  listed: readonly ToolDefinition[]
  request: RunScope['request']
  resources: RunScope['resources']
  approvals: Approvals
  /** What the run remembers of them. */
  grants: Pick<RunGrants, 'hasUsed' | 'settled'>
  taint: Taint
}

/** Creates the `agents` of the tool context. */
export function createAgentStarter({
  performed,
  context,
  listed,
  request,
  resources,
  approvals,
  grants,
  taint,
}: Dependencies): AgentStarter {
  const { run, options, active, usage, journal, timeline, writes, dependencies } = performed
  const { llm, tools } = context
  const performTasks = createSubAgents(
    {
      llm,
      request,
      contextWindow: context.contextWindow,
      tools: listed,
      resources,
      approvals,
      async countGrantUse(grantId, { id: idRef, name: tool }) {
        const at = dependencies.now()
        const mayBeFirst = !grants.hasUsed(grantId)
        let holds = false
        await writes.commit(async (tx) => {
          const used = { grantId, run, idRef, tool, at, mayBeFirst }
          holds = await applyGrant(tx, used, dependencies)
        })
        grants.settled(grantId, holds)
        return holds
      },
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
          const work = await workOf(usage, event, used)
          await journal.write(callId, position, { ...event, work }, used, async (tx) => {
            await mark?.(tx)
            await storeNested(performed, tx, { callId, position }, event, result)
          })
          timeline.addSubAgentWork(callId, work)
        },
      },
    },
    limitsOf(options, dependencies.settings).subAgents,
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

/** Stores calls and their outcomes for the receipt of the answer. The events are removed when the run ends. */
async function storeNested(
  { run, dependencies }: PerformedRun,
  tx: Writer,
  at: { callId: string; position: number },
  event: SubAgentEvent,
  result: CallResult | undefined,
): Promise<void> {
  const { ledger } = dependencies.store
  if (event.type === 'iteration')
    await ledger.addNestedCalls(
      tx,
      run.id,
      event.calls.map(({ id, name, arguments: given }) => ({
        ...at,
        idRef: id,
        name,
        arguments: given,
      })),
    )
  else if (event.type === 'result' && result !== undefined) {
    const { content, skipped, artifact } = result
    const outcome = outcomeOf({ name: result.call.name, content, skipped, artifact })
    await ledger.settleNestedCall(tx, run.id, { ...at, idRef: event.id }, outcome)
  }
}

/** What an event adds to the timeline; undefined for nothing. */
async function workOf(
  usage: Pick<RunUsage, 'priceOf'>,
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
