// The `spawn` tool: starts a task that runs in the background, beside the current run.
import { z } from 'zod'
import { toolsForSubAgent } from '../../agent/sub-agent-tools.ts'
import type { RunScopes } from '../../runs/sub-agents/scope.ts'
import { defineTool, fail, succeed, type ToolDefinition } from '../../tools/definition.ts'
import type { ToolRegistry } from '../../tools/registry.ts'
import type { BeginBackground } from '../background.ts'

export interface SpawnDependencies {
  scopes: RunScopes
  registry: Pick<ToolRegistry, 'get'>
  begin: BeginBackground
}

export const createSpawnTool = ({ scopes, registry, begin }: SpawnDependencies): ToolDefinition =>
  defineTool({
    name: 'spawn',
    description:
      'Starts a task in the background and returns immediately; you do not get its result in this answer. Use it for long work that your answer does not depend on. It cannot see this conversation.',
    category: 'agent',
    riskLevel: 'low',
    // The same call begins its task once, also when it is made again after a restart.
    repeatable: true,
    timeoutMs: 20_000,
    input: z.object({
      task: z
        .string()
        .trim()
        .min(1)
        .max(50_000)
        .describe('The complete task with everything it needs to know.'),
      announce: z
        .boolean()
        .default(true)
        .describe('Post the result in this conversation when done.'),
    }),
    async handler({ task, announce }, context) {
      const scope = scopes.get(context.runId)
      if (scope === undefined) return fail('Tasks can only be started during a run.')
      const { tools } = toolsForSubAgent(scope.tools, undefined, registry)
      const begun = await begin(context.runId, {
        callId: context.callId,
        task,
        announce,
        tools: tools.map(({ name }) => name),
      })
      if (!begun.ok) return fail(begun.error)
      return succeed({ id: begun.id }, { display: `In the background: ${task.slice(0, 120)}` })
    },
  })
