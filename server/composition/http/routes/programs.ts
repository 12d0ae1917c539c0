// The dependencies of the routes for other programs: the compatible APIs, `/mcp`, channels and webhooks.
import type { RouteDependencies } from '../../../routes/index.ts'
import { confirmChannel } from '../../accounts/accounts.ts'
import { createMcpServices } from '../mcp-server.ts'
import type { SharedRouteModules } from './modules.ts'

type ProgramGroups = 'programs' | 'mcpServer' | 'channels' | 'webhooks'

/** The dependencies of `routes/programs`. */
export const programRoutes = ({
  config,
  store,
  bodyBox,
  chat,
  emailLinks,
  listModels,
  search,
  tools,
  version,
  workspace,
}: SharedRouteModules): Pick<RouteDependencies, ProgramGroups> => ({
  programs: { chat, store, listModels },
  mcpServer: {
    services: createMcpServices({ chat, store, search, workspace, box: bodyBox }),
    version,
  },
  channels: {
    channels: tools.channels,
    askForConfirmation: config.auth_mode === 'multi' ? confirmChannel(emailLinks) : undefined,
  },
  webhooks: { webhooks: tools.webhooks },
})
