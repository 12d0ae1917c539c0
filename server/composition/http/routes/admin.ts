// The dependencies of the routes of administrators: users, groups, and the whole server.
import type { RouteDependencies } from '../../../routes/index.ts'
import { passwordRule } from '../../accounts/accounts.ts'
import { bringProjectsBack, endAccount } from '../../accounts/delete-account.ts'
import { administrationOf } from '../administration.ts'
import type { SharedRouteModules } from './modules.ts'

type AdminGroups = 'adminUsers' | 'adminGroups' | 'adminUsage' | 'adminServer' | 'adminMcp'

/** The dependencies of `routes/admin`. */
export const adminRoutes = (modules: SharedRouteModules): Pick<RouteDependencies, AdminGroups> => {
  const { access, store, tools, now } = modules
  return {
    adminUsers: userAdministration(modules),
    adminUsage: { usageReport: store.usageReport, now },
    adminGroups: { groups: store.groups, users: store.users, access },
    ...administrationOf({ ...modules, mcp: tools.mcp, registry: tools.registry }, modules),
  }
}

function userAdministration({
  config,
  store,
  secondFactors,
  access,
  reportQuota,
  sessions,
  apiKeys,
  links,
  connections,
  passwords,
  workspace,
  tools,
  chat,
  now,
  transfers,
}: SharedRouteModules): RouteDependencies['adminUsers'] {
  /** Ends the user's runs and responses, except the response `kept`. */
  const endAccess: RouteDependencies['adminUsers']['endAccess'] = async (id, kept) => {
    connections.end(id, { kept })
    await chat.stopUser(id)
  }
  return {
    users: store.users,
    secondFactors,
    access,
    quotas: store.quotas,
    reportQuota,
    sessions,
    apiKeys,
    audit: store.audit,
    links,
    allowsPassword: passwordRule(config),
    publicUrl: config.public_url,
    connections,
    endAccess,
    bringProjectsBack: (id) => bringProjectsBack({ store, workspace }, id),
    endAccount: (id, end, kept) =>
      endAccount(
        {
          store,
          workspace,
          passwords,
          removeDocuments: tools.knowledge.removeProject,
          removeExports: (userId) => transfers.removeExports(userId),
          stopProject: (projectId) => chat.stopProject(projectId),
          endAccess: (userId) => endAccess(userId, kept),
          now,
        },
        id,
        end,
      ),
  }
}
