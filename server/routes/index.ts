// All routes of the API, registered by hand: what is not here is not served.
import type { App } from '../plugins/app.ts'
import { registerAdminUserRoutes } from './admin-users.ts'
import { type AuthRouteDependencies, registerAuthRoutes } from './auth.ts'
import { type ConversationRouteDependencies, registerConversationRoutes } from './conversations.ts'
import { type HealthDependencies, registerHealthRoutes } from './health.ts'
import { type MessageRouteDependencies, registerMessageRoutes } from './messages.ts'
import { type ModelRouteDependencies, registerModelRoutes } from './models.ts'
import { registerRunRoutes } from './runs.ts'
import { registerStatsRoutes, type StatsRouteDependencies } from './stats.ts'

/** What each group of routes needs, by its name. */
export interface RouteDependencies {
  health: HealthDependencies
  auth: AuthRouteDependencies
  adminUsers: Parameters<typeof registerAdminUserRoutes>[1]
  conversations: ConversationRouteDependencies
  messages: MessageRouteDependencies
  runs: Parameters<typeof registerRunRoutes>[1]
  models: ModelRouteDependencies
  stats: StatsRouteDependencies
}

/** Registers everything that is served but the page. */
export function registerRoutes(app: App, dependencies: RouteDependencies): void {
  registerHealthRoutes(app, dependencies.health)
  registerAuthRoutes(app, dependencies.auth)
  registerAdminUserRoutes(app, dependencies.adminUsers)
  registerConversationRoutes(app, dependencies.conversations)
  registerMessageRoutes(app, dependencies.messages)
  registerRunRoutes(app, dependencies.runs)
  registerModelRoutes(app, dependencies.models)
  registerStatsRoutes(app, dependencies.stats)
}
