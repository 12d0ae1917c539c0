// The dependencies of each group of routes, from the wired modules; one file per folder of routes.
import type { RouteDependencies } from '../../../routes/index.ts'
import { accountRoutes } from './accounts.ts'
import { adminRoutes } from './admin.ts'
import { conversationRoutes } from './conversations.ts'
import { modelRoutes } from './models.ts'
import { type RouteModules, withShared } from './modules.ts'
import { programRoutes } from './programs.ts'
import { projectRoutes } from './projects.ts'

/** Selects the modules that each group of routes uses. Call it once. */
export function routeDependencies(routeModules: RouteModules): RouteDependencies {
  const modules = withShared(routeModules)
  const { chat, database, instance, version } = modules
  return {
    health: {
      version,
      isDraining: () => chat.runs.isDraining,
      pingStore: () => database.ping(),
      redisState: () => instance.redisState,
    },
    ...accountRoutes(modules),
    ...adminRoutes(modules),
    ...conversationRoutes(modules),
    ...projectRoutes(modules),
    ...modelRoutes(modules),
    ...programRoutes(modules),
  }
}
