// The `multi_agent` tool: up to five tasks for sub-agents that work side by side.
import pLimit from 'p-limit'
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../tools/definition.ts'
import type { RunScopes } from './run-scopes.ts'
import { type ExecutorResources, performSubAgent, type SubAgentLimits } from './sub-agent.ts'
import { createSubAgentLog, type SubAgentOutcome } from './sub-agent-log.ts'
import { toolsForSubAgent } from './sub-agent-tools.ts'
import { createTeller, liveView, viewOf } from './sub-agent-view.ts'

const MOST_TASKS = 5
/** The run's own limits end it; this only has to be longer than any run that waits for a person. */
const TIMEOUT_MS = 7 * 24 * 3_600_000

export interface MultiAgentDependencies {
  scopes: RunScopes
  limits: SubAgentLimits
  resources: ExecutorResources
}

const Task = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .describe('A short name by which its result is told apart.'),
  instruction: z
    .string()
    .trim()
    .min(1)
    .max(50_000)
    .describe('The whole task. The sub-agent sees nothing of this conversation: say all it needs.'),
  tools: z
    .array(z.string().max(200))
    .max(100)
    .optional()
    .describe('Names of the tools that it may use; all of yours when left out.'),
})

export const createMultiAgentTool = ({
  scopes,
  limits,
  resources,
}: MultiAgentDependencies): ToolDefinition =>
  defineTool({
    name: 'multi_agent',
    aliases: ['agent_task', 'parallel_execute'],
    description:
      'Gives up to five independent tasks to sub-agents that work at the same time, and returns all their answers. For research or checks that fall into parts which do not need each other.',
    category: 'agent',
    riskLevel: 'low',
    // It does not begin anew after a restart: each sub-agent goes on behind what its log holds.
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    input: z.object({
      tasks: z.array(Task).min(1).max(MOST_TASKS).describe('The tasks, done side by side.'),
    }),
    async handler({ tasks }, context) {
      const scope = scopes.get(context.runId)
      if (scope === undefined) return fail('Sub-agents can only be started from a running answer.')
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
      const teller = createTeller(() => context.progress({ agents: views().map(liveView) }))
      const slot = pLimit(limits.maxConcurrency)

      const perform = async (member: (typeof team)[number]): Promise<SubAgentOutcome> => {
        const { task, position, log } = member
        const { tools, unknown } = toolsForSubAgent(scope.tools, task.tools, resources.registry)
        if (unknown.length > 0) {
          const error = `There are no tools of these names: ${unknown.join(', ')}`
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
      return succeed(
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
      )
    },
  })
