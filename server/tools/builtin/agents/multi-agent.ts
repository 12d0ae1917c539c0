// The `multi_agent` tool: up to five tasks for sub-agents that work in parallel.

import { z } from 'zod'
import { TOOL_ALIASES } from '../../../protocol/tool-names/tool-aliases.ts'
import { defineTool, markUntrusted, succeed } from '../../definition.ts'

const MAX_TASKS = 5
/** The run's own limits end the call; this only has to exceed any wait for a person. */
const TIMEOUT_MS = 7 * 24 * 3_600_000

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

export const multiAgent = defineTool({
  name: 'multi_agent',
  aliases: TOOL_ALIASES.multi_agent,
  description:
    'Runs up to five independent tasks in parallel, each by a sub-agent, and returns all results. Use it for research or checks that split into independent parts; not for dependent steps or a single quick lookup. Sub-agents cannot see this conversation.',
  category: 'agent',
  riskLevel: 'low',
  // After a restart, the call continues: each sub-agent resumes where its stored events end.
  repeatable: true,
  timeoutMs: TIMEOUT_MS,
  input: z.object({
    tasks: z.array(Task).min(1).max(MAX_TASKS),
  }),
  async handler({ tasks }, context) {
    const { outcomes, agents, untrusted } = await context.agents.performTasks(tasks, context)
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
        { display: failed === 0 ? count : `${count}, ${failed} failed`, agents },
      ),
      untrusted,
    )
  },
})
