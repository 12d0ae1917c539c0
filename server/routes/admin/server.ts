// Routes for administrators: running runs, the server's health, storage and settings.
import { z } from 'zod'
import type { ServerSettingsService } from '../../access/server-settings.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import {
  AdminRun,
  HealthFinding,
  PatchServerSettings,
  ServerSettings,
  StorageOverview,
} from '../../protocol/admin/server.ts'
import { envelope, PageQuery } from '../../protocol/envelope.ts'
import { RunId, type UserId } from '../../protocol/ids.ts'
import { success } from '../envelope.ts'

/** The dependencies of the routes with which administrators see and control the server. */
export interface AdminServerDependencies {
  /** The unfinished runs of all users, oldest first. */
  listRuns(): Promise<AdminRun[]>
  /** Resolves to false if there is no such unfinished run. */
  stopRun(id: RunId): Promise<boolean>
  /** The results of the doctor's checks. */
  checkHealth(userId: UserId): Promise<HealthFinding[]>
  /** What accounts store, largest first. @throws AppError `cursor_invalid`. */
  reportStorage(limit: number, cursor: string | undefined): Promise<StorageOverview>
  settings: ServerSettingsService
  /** @throws AppError `unknown_model`. */
  assertModel(id: string): Promise<void>
}

const DEFAULT_LIMIT = 50

const list = <T extends z.ZodType>(item: T) => envelope(z.object({ items: z.array(item) }))

/** `/api/admin/{runs,health,storage,settings}`. */
export function registerAdminServerRoutes(app: App, dependencies: AdminServerDependencies): void {
  registerRuns(app, dependencies)
  registerState(app, dependencies)
  registerSettings(app, dependencies)
}

/** The runs of all users. */
function registerRuns(app: App, { listRuns, stopRun }: AdminServerDependencies): void {
  app.get(
    '/api/admin/runs',
    {
      config: { admin: true },
      schema: {
        summary: 'List the unfinished runs of all users, without their content',
        response: { 200: list(AdminRun) },
      },
    },
    async () => success({ items: await listRuns() }),
  )

  app.post(
    '/api/admin/runs/:id/stop',
    {
      config: { admin: true, audit: { action: 'run_stopped' } },
      schema: {
        summary: 'Stop a run; its partial answer is kept',
        params: z.object({ id: RunId }),
        response: { 200: list(AdminRun) },
      },
    },
    async (request) => {
      const { params } = request
      const run = (await listRuns()).find(({ id }) => id === params.id)
      if (!(await stopRun(params.id))) throw appError('run_not_found')
      if (run !== undefined) request.audited = { account: run.username }
      return success({ items: await listRuns() })
    },
  )
}

/** The health and storage of the server. */
function registerState(app: App, { checkHealth, reportStorage }: AdminServerDependencies): void {
  app.get(
    '/api/admin/health',
    {
      config: { admin: true },
      schema: {
        summary: 'Check everything the server depends on',
        description:
          'Returns the findings of `nanoclaw doctor`. Sends a tiny request to each provider.',
        response: { 200: list(HealthFinding) },
      },
    },
    async ({ user }) => success({ items: await checkHealth(user.id) }),
  )

  app.get(
    '/api/admin/storage',
    {
      config: { admin: true },
      schema: {
        summary: 'Get the storage of each account and the total, in bytes',
        description:
          'Largest first; accounts that store nothing are omitted. The size of project histories may be a few minutes old.',
        querystring: PageQuery,
        response: { 200: envelope(StorageOverview) },
      },
    },
    async ({ query }) => success(await reportStorage(query.limit ?? DEFAULT_LIMIT, query.cursor)),
  )
}

/** The settings that administrators can change while the server runs. */
function registerSettings(app: App, { settings, assertModel }: AdminServerDependencies): void {
  app.get(
    '/api/admin/settings',
    {
      config: { admin: true },
      schema: {
        summary: 'Get the settings of the server',
        response: { 200: envelope(ServerSettings) },
      },
    },
    async () => success(settings.current()),
  )

  app.patch(
    '/api/admin/settings',
    {
      config: {
        admin: true,
        audit: {
          action: 'settings_changed',
          fields: [
            ...['registration', 'sharing', 'model_order', 'hidden_models'],
            ...['default_model', 'default_approval'],
          ],
        },
      },
      schema: {
        summary: 'Update the settings of the server; `null` resets one to the configuration file',
        body: PatchServerSettings,
        response: { 200: envelope(ServerSettings) },
      },
    },
    async ({ body }) => {
      if (body.default_model != null) await assertModel(body.default_model)
      return success(await settings.change(body))
    },
  )
}
