// Routes for administrators: running runs, the server's health, storage and settings.

import { z } from 'zod'
import { listActiveRuns, stopActiveRun } from '../../administration/active-runs.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import {
  AdminRun,
  HealthFinding,
  PatchServerSettings,
  ServerSettings,
  StorageOverview,
} from '../../protocol/admin/server.ts'
import { envelope, PageQuery } from '../../protocol/envelope.ts'
import { RunId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const DEFAULT_LIMIT = 50

const list = <T extends z.ZodType>(item: T) => envelope(z.object({ items: z.array(item) }))

/** `/api/admin/{runs,health,storage,settings}`. */
export function registerAdminServerRoutes(
  app: App,
  services: Pick<
    Services,
    'store' | 'chat' | 'checkHealth' | 'reportStorage' | 'settings' | 'offeredModels'
  >,
): void {
  registerRuns(app, services)
  registerState(app, services)
  registerSettings(app, services)
}

/** The runs of all users. */
function registerRuns(app: App, { store, chat }: Pick<Services, 'store' | 'chat'>): void {
  app.get(
    '/api/admin/runs',
    {
      config: { admin: true },
      schema: {
        summary: 'List the unfinished runs of all users, without their content',
        response: { 200: list(AdminRun) },
      },
    },
    async () => success({ items: await listActiveRuns(store) }),
  )

  app.post(
    '/api/admin/runs/:id/stop',
    {
      config: { admin: true },
      schema: {
        summary: 'Stop a run; its partial answer is kept',
        params: z.object({ id: RunId }),
        response: { 200: list(AdminRun) },
      },
    },
    async (request) => {
      const { id } = request.params
      if (!(await stopActiveRun({ store, chat }, actorOf(request), id)))
        throw appError('run_not_found')
      return success({ items: await listActiveRuns(store) })
    },
  )
}

/** The health and storage of the server. */
function registerState(
  app: App,
  { checkHealth, reportStorage }: Pick<Services, 'checkHealth' | 'reportStorage'>,
): void {
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
function registerSettings(
  app: App,
  { settings, offeredModels }: Pick<Services, 'settings' | 'offeredModels'>,
): void {
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
      config: { admin: true },
      schema: {
        summary: 'Update the settings of the server; `null` resets one to the configuration file',
        body: PatchServerSettings,
        response: { 200: envelope(ServerSettings) },
      },
    },
    async (request) => {
      const { body } = request
      if (body.default_model != null) await offeredModels.assertOffered(null, body.default_model)
      return success(await settings.change(body, actorOf(request)))
    },
  )
}
