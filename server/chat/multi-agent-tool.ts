// The `multi_agent` tool: up to five tasks for sub-agents that work side by side.
import pLimit from 'p-limit'
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../tools/definition.ts'
import type { RunScopes } from './run-scopes.ts'
import {
  type ExecutorResources,
  performSubAgent,
  type SubAgentLimits,
  type SubAgentView,
} from './sub-agent.ts'
import { toolsForSubAgent } from './sub-agent-tools.ts'

const MOST_TASKS = 5
/** The run's own limits end it; this only has to be longer than any run that waits for a person. */
const TIMEOUT_MS = 7 * 24 * 3_600_000
/** Live states are told at most this often. */
const TELL_EVERY_MS = 250
/** Of each sub-agent while it works; the whole is in the result's artifact. */
const LIVE_CALLS = 5
const LIVE_CHARACTERS = 200

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
    // Its sub-agents may have changed things before the server died.
    repeatable: false,
    timeoutMs: TIMEOUT_MS,
    input: z.object({
      tasks: z.array(Task).min(1).max(MOST_TASKS).describe('The tasks, done side by side.'),
    }),
    async handler({ tasks }, context) {
      const scope = scopes.get(context.runId)
      if (scope === undefined) return fail('Sub-agents can only be started from a running answer.')
      const views = tasks.map(
        ({ name }): SubAgentView => ({ name, state: 'waiting', text: '', calls: [] }),
      )
      const teller = createTeller(() => context.progress({ agents: views.map(liveView) }))
      const slot = pLimit(limits.maxConcurrency)
      const outcomes = await Promise.all(
        tasks.map((task, index) =>
          slot(async () => {
            const view = views[index]
            const { tools, unknown } = toolsForSubAgent(scope.tools, task.tools, resources.registry)
            if (view === undefined || unknown.length > 0) {
              if (view !== undefined) view.state = 'failed'
              return {
                success: false as const,
                error: `There are no tools of these names: ${unknown.join(', ')}`,
              }
            }
            return performSubAgent(
              { ...task, tools },
              { scope, context, limits, resources, view, onChange: teller.changed },
            )
          }),
        ),
      )
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
          agents: views.map((view) => ({
            ...view,
            calls: view.calls.map((call) => ({ ...call })),
          })),
        },
      )
    },
  })

/** Small, because it is sent again at every change. */
const liveView = (view: SubAgentView) => ({
  ...view,
  text: view.text.slice(-LIVE_CHARACTERS),
  calls: view.calls
    .slice(-LIVE_CALLS)
    .map((call) => ({ ...call, arguments: call.arguments.slice(0, LIVE_CHARACTERS) })),
})

/** Tells of changes at most every 250 ms, the last one always. */
function createTeller(tell: () => void): { changed(): void; end(): void } {
  let timer: NodeJS.Timeout | undefined
  return {
    changed() {
      timer ??= setTimeout(() => {
        timer = undefined
        tell()
      }, TELL_EVERY_MS)
    },
    end() {
      clearTimeout(timer)
      tell()
    },
  }
}
