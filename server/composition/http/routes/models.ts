// The dependencies of the routes of models, MCP servers and tools.
import { listPresets } from '../../../llm/probe/presets.ts'
import type { RouteDependencies } from '../../../routes/index.ts'
import { describeSentTools } from '../../../runs/tools-on-demand.ts'
import { clientMetadataUrl } from '../../tools/mcp-grants.ts'
import type { SharedRouteModules } from './modules.ts'

/** The dependencies of `routes/models`. */
export const modelRoutes = ({
  config,
  store,
  box,
  files,
  listModels,
  probe,
  tools,
  uploadSlots,
}: SharedRouteModules): Pick<RouteDependencies, 'models' | 'modelSetup' | 'mcp' | 'tools'> => ({
  models: { listModels, configured: config.models, models: store.models, box },
  modelSetup: { probe: probe.probe, listPresets },
  mcp: {
    mcp: tools.mcp,
    files,
    uploadSlots,
    publicUrl: config.public_url,
    clientMetadataUrl: clientMetadataUrl(config.public_url),
  },
  tools: {
    registry: tools.registry,
    isolationKnown: tools.isolationKnown,
    async sent(all, userId) {
      const disabled =
        userId === null ? [] : (await store.settings.preferences(userId)).disabled_tools
      return describeSentTools({
        tools: all.filter(({ name }) => !disabled.includes(name)),
        maxMcpTools: config.tools.listed_mcp_tools,
      })
    },
  },
})
