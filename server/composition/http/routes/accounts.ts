// The dependencies of the routes of accounts: for signing in, and for what belongs to one user.
import { createStorageUse } from '../../../access/storage-use.ts'
import type { RouteDependencies } from '../../../routes/index.ts'
import type { SharedRouteModules } from './modules.ts'

type AccountGroups = 'auth' | 'quota' | 'memory' | 'preferences' | 'push' | 'userEvents'

/** The dependencies of `routes/accounts`. */
export const accountRoutes = (
  modules: SharedRouteModules,
): Pick<RouteDependencies, AccountGroups> => {
  const { access, changes, config, reportQuota, store, tools, workspace } = modules
  return {
    auth: signIn(modules),
    quota: {
      report: reportQuota,
      storageUse: createStorageUse({
        storage: store.storage,
        measure: workspace.workspaces.storage.left,
        texts: workspace.workspaces.storage.texts,
        limitOf: (userId) => access.quota(userId).storage ?? config.limits.storage,
      }),
    },
    memory: { memory: tools.memory },
    preferences: { settings: store.settings },
    push: { push: tools.push },
    userEvents: { changes },
  }
}

const signIn = ({
  config,
  settings,
  accounts,
  links,
  setup,
  oidc,
  secondFactors,
  passkeys,
  emailLinks,
  limits,
  record,
  sessions,
  knownBrowsers,
  apiKeys,
  issueToken,
  connections,
}: SharedRouteModules): RouteDependencies['auth'] => ({
  mode: config.auth_mode,
  registration: () => settings.current().effective.registration,
  behindProxy: config.public_url !== undefined || config.trusted_proxies !== undefined,
  accounts,
  links,
  setup,
  oidc,
  secondFactors,
  passkeys,
  emailLinks,
  limits,
  publicUrl: config.public_url,
  offered: {
    ...(oidc === null ? {} : { oidc: oidc.name }),
    ...(config.oidc?.password_login === false ? { password_off: true as const } : {}),
  },
  record,
  sessions,
  knownBrowsers,
  apiKeys,
  issueToken,
  connections,
  https: config.public_url?.startsWith('https:') === true,
})
