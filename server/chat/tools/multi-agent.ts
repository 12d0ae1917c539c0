// The `multi_agent` tool: up to five tasks for sub-agents that work side by side.
import pLimit, { type LimitFunction } from 'p-limit'
import { z } from 'zod'
import type { RunScope } from '../../agent/run-scope.ts'
import {
  type ExecutorResources,
  performSubAgent,
  type SubAgentLimits,
} from '../../agent/sub-agent.ts'
import { createSubAgentLog, type SubAgentOutcome } from '../../agent/sub-agent-log.ts'
import { toolsForSubAgent } from '../../agent/sub-agent-tools.ts'
import { createTeller, liveView, viewOf } from '../../agent/sub-agent-view.ts'
import type { RunScopes } from '../../runs/sub-agents/scope.ts'
import {
  defineTool,
  fail,
  markUntrusted,
  succeed,
  type ToolDefinition,
} from '../../tools/definition.ts'

const MOST_TASKS = 5
/** The run's own limits end it; this only has to be longer than any run that waits for a person. */
const TIMEOUT_MS = 7 * 24 * 3_600_000

export interface MultiAgentDependencies {
  scopes: RunScopes
  limits: SubAgentLimits
  resources: ExecutorResources
}

const Task = z.object({
  name: z.string().trim().min(1).max(100).describe('Short label for its result.'),
  instruction: z
    .string()
    .trim()
    .min(1)
    .max(50_000)
    .describe('The complete task with everything it needs to know.'),
  tools: z
    .array(z.string().max(200))
    .max(100)
    .optional()
    .describe('Tool names; default: all of yours.'),
})

export const createMultiAgentTool = ({
  scopes,
  limits,
  resources,
}: MultiAgentDependencies): ToolDefinition => {
  /** One for each run: calls side by side share the sub-agents that may work at once. */
  const slots = new WeakMap<RunScope, LimitFunction>()
  return defineTool({
    name: 'multi_agent',
    aliases: ['agent_task', 'parallel_execute'],
    description:
      'Runs up to five independent tasks in parallel, each by a sub-agent, and returns all results. Use it for research or checks that split into independent parts; not for dependent steps or a single quick lookup. Sub-agents cannot see this conversation.',
    category: 'agent',
    riskLevel: 'low',
    // It does not begin anew after a restart: each sub-agent goes on behind what its log holds.
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    input: z.object({
      tasks: z.array(Task).min(1).max(MOST_TASKS),
    }),
    async handler({ tasks }, context) {
      const scope = scopes.get(context.runId)
      if (scope === undefined) return fail('Sub-agents can only be started during a run.')
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
      const teller = createTeller(() =>
        context.progress({ kind: 'agents', agents: views().map(liveView) }),
      )
      const slot = slots.get(scope) ?? pLimit(limits.maxConcurrency)
      slots.set(scope, slot)

      const perform = async (member: (typeof team)[number]): Promise<SubAgentOutcome> => {
        const { task, position, log } = member
        const { tools, unknown } = toolsForSubAgent(scope.tools, task.tools, resources.registry)
        if (unknown.length > 0) {
          const error = `Unknown tools: ${unknown.join(', ')}`
          log.add({ type: 'ended', outcome: { success: false, error } })
          return { success: false, error }
        }
        const onChange = (text: string): void => {
          member.text = text
          teller.changed()
        }
        onChange('')
        const outcome = await performSubAgent(
          { ...task, tools },
          { scope, context, position, limits, resources, log, onChange },
        )
        // Also what could not be stored is seen as it ended.
        if (log.outcome === null) log.add({ type: 'ended', outcome })
        teller.changed()
        return outcome
      }
      const outcomes = await Promise.all(team.map((member) => slot(() => perform(member))))
      teller.end()
      const failed = outcomes.filter(({ success }) => !success).length
      const count = `${tasks.length} sub-agent${tasks.length === 1 ? '' : 's'}`
      return markUntrusted(
        succeed(
          {
            results: outcomes.map((outcome, index) => ({
              task_name: tasks[index]?.name ?? '',
              ...outcome,
            })),
            total: tasks.length,
          },
          {
            display: failed === 0 ? count : `${count}, ${failed} failed`,
            agents: views(),
          },
        ),
        scope.isTainted(),
      )
    },
  })
}
