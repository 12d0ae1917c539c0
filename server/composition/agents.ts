// Sub-agents and background tasks: tools that are made of the chat itself, so they come after it.
import { type Background, createBackground } from '../chat/background.ts'
import type { ChatService } from '../chat/chat-service.ts'
import { createMultiAgentTool } from '../chat/tools/multi-agent.ts'
import { createSpawnTool } from '../chat/tools/spawn.ts'
import type { Config } from '../config/schema.ts'
import type { Store } from '../db/store.ts'
import type { ToolRooms } from './tools.ts'

export interface AgentOptions {
  config: Config
  store: Store
  chat: ChatService
  tools: Pick<ToolRooms, 'registry' | 'cache' | 'results' | 'safety'>
  instance: string
  now(): Date
}

/** Adds `multi_agent` and `spawn` to the registry; answers what the routes of background tasks need. */
export function createAgents({
  config,
  store,
  chat,
  tools,
  instance,
  now,
}: AgentOptions): Background {
  const { registry, cache, results, safety } = tools
  const { max_iterations, max_concurrency, max_tokens, timeout } = config.sub_agent
  const background = createBackground({ store, instance, now, maxIterations: max_iterations }, chat)
  registry.add(
    createMultiAgentTool({
      scopes: chat.scopes,
      limits: {
        maxIterations: max_iterations,
        maxConcurrency: max_concurrency,
        maxTokens: max_tokens,
        timeout,
      },
      resources: { registry, cache, results, safety, maxWorkers: config.tool_max_workers },
    }),
  )
  registry.add(createSpawnTool({ scopes: chat.scopes, registry, begin: background.begin }))
  return background
}
