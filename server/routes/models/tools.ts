// The route that lists the tools, `GET /api/tools`.

import type { Identity } from '../../auth/identity.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import { type SentTools, ToolList, type ToolListing } from '../../protocol/models/catalog.ts'
import { describeSentTools } from '../../runs/tools-on-demand.ts'
import type { Services } from '../../services.ts'
import { type ToolDefinition, toSchema } from '../../tools/definition.ts'
import { success } from '../envelope.ts'

/** Registers the public list of tools, in the format that models receive. */
export function registerToolRoutes(
  app: App,
  {
    registry,
    isolationKnown,
    store,
    listedMcpTools,
  }: Pick<Services, 'registry' | 'isolationKnown' | 'store' | 'listedMcpTools'>,
): void {
  /** What a new conversation of this user, or of anybody, sends of these tools. */
  async function sent(all: readonly ToolDefinition[], userId: UserId | null): Promise<SentTools> {
    const disabled =
      userId === null ? [] : (await store.settings.preferences(userId)).disabled_tools
    return describeSentTools({
      tools: all.filter(({ name }) => !disabled.includes(name)),
      maxMcpTools: listedMcpTools,
    })
  }

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
      // The list waits for it, so that it is complete.
      await isolationKnown
      // Without a valid credential there is no user.
      const user: Identity | null = request.user
      const userId = user?.id ?? null
      const tools = registry.snapshot(userId).list()
      return success({
        tools: tools.map(present),
        total: tools.length,
        sent: await sent(tools, userId),
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
