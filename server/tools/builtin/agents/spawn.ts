// The `spawn` tool: starts a background task alongside the current run.
import { z } from 'zod'
import { defineTool, fail, succeed } from '../../definition.ts'

export const spawn = defineTool({
  name: 'spawn',
  description:
    'Starts a task in the background and returns immediately; you do not get its result in this answer. Use it for long work that your answer does not depend on. It cannot see this conversation.',
  category: 'agent',
  riskLevel: 'low',
  // A call starts its task only once, even if it is repeated after a restart.
  repeatable: true,
  timeoutMs: 20_000,
  input: z.object({
    task: z
      .string()
      .trim()
      .min(1)
      .max(50_000)
      .describe('The complete task with everything it needs to know.'),
    announce: z.boolean().default(true).describe('Post the result in this conversation when done.'),
  }),
  async handler({ task, announce }, { callId, agents }) {
    const started = await agents.startBackgroundTask({ callId, task, announce })
    if (!started.ok) return fail(started.error)
    return succeed({ id: started.id }, { display: `In the background: ${task.slice(0, 120)}` })
  },
})
