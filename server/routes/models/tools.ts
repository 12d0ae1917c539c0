// The route that lists the tools, `GET /api/tools`.
import type { Identity } from '../../auth/identity.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import { type SentTools, ToolList, type ToolListing } from '../../protocol/models/catalog.ts'
import type { ToolDefinition } from '../../tools/definition.ts'
import type { ToolRegistry } from '../../tools/registry.ts'
import { toSchema } from '../../tools/tool-schema.ts'
import { success } from '../envelope.ts'

/** The dependencies of the tool list. */
export interface ToolRouteDependencies {
  registry: ToolRegistry
  /** What a new conversation of this user, or of anybody, sends of these tools. */
  sent(tools: readonly ToolDefinition[], userId: UserId | null): Promise<SentTools>
  /** Resolves when the available isolation is known; the list waits for it, so that it is complete. */
  isolationKnown: Promise<void>
}

/** Registers the public list of tools, in the format that models receive. */
export function registerToolRoutes(app: App, dependencies: ToolRouteDependencies): void {
  app.get(
    '/api/tools',
    {
      config: { public: true, mayKnowUser: true },
      schema: {
        summary: 'List all tools with their parameters, category and risk level',
        description:
          'A signed-in user also gets the tools of the MCP servers that only they can use.',
        response: { 200: envelope(ToolList) },
      },
    },
    async (request) => {
      await dependencies.isolationKnown
      // Without a valid credential there is no user.
      const user: Identity | null = request.user
      const userId = user?.id ?? null
      const tools = dependencies.registry.snapshot(userId).list()
      return success({
        tools: tools.map(present),
        total: tools.length,
        sent: await dependencies.sent(tools, userId),
      })
    },
  )
}

const present = (tool: ToolDefinition): ToolListing => ({
  ...toSchema(tool),
  category: tool.category,
  risk_level: tool.riskLevel,
  ...(tool.isolation === undefined ? {} : { isolation: tool.isolation }),
})
