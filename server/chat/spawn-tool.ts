// The `spawn` tool: a task that goes on in the background while the answer does.
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../tools/definition.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { BeginBackground } from './background.ts'
import type { RunScopes } from './run-scopes.ts'
import { toolsForSubAgent } from './sub-agent-tools.ts'

export interface SpawnDependencies {
  scopes: RunScopes
  registry: Pick<ToolRegistry, 'get'>
  begin: BeginBackground
}

export const createSpawnTool = ({ scopes, registry, begin }: SpawnDependencies): ToolDefinition =>
  defineTool({
    name: 'spawn',
    description:
      'Starts one task in the background and returns at once. When it is done its result appears in this conversation by itself. For work that takes long and that your answer does not have to wait for.',
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
        .describe('The whole task; the background agent sees nothing of this conversation.'),
      announce: z
        .boolean()
        .default(true)
        .describe('Whether the result appears in the conversation when it is there.'),
    }),
    async handler({ task, announce }, context) {
      const scope = scopes.get(context.runId)
      if (scope === undefined) return fail('Tasks can only be started from a running answer.')
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
