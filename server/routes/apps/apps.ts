// Routes that open files of projects as apps, and permit them the network.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { OpenedApp } from '../../apps/apps.ts'
import { PAGE_ORIGIN } from '../../apps/origin.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { envelope } from '../../protocol/envelope.ts'
import { AppLibrary, OpenAppBody, PatchAppBody, RunningApp } from '../../protocol/projects/app.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const tags = ['apps']
const params = z.object({ id: z.string().min(1).max(64) })

type Needed = Pick<Services, 'apps' | 'appsOrigin' | 'appLibraries' | 'publicUrl'>

/** `/api/apps[/:id]` and `/api/apps/libraries`. */
export function registerAppRoutes(
  app: App,
  { apps, appsOrigin, appLibraries, publicUrl }: Needed,
): void {
  app.get(
    '/api/apps/libraries',
    {
      schema: {
        summary: 'List the libraries that components can import',
        description: 'The server has them itself, at these versions: apps need no other server.',
        tags,
        response: { 200: envelope(z.object({ items: z.array(AppLibrary) })) },
      },
    },
    async ({ user }) => {
      apps.assertAllowed(user.id)
      return success({ items: await appLibraries.list() })
    },
  )

  app.post(
    '/api/apps',
    {
      schema: {
        summary: 'Open a file of a project as an app',
        description:
          'Answers with an address of another origin, at which the file runs in a frame for an hour. Ask again for a new address. `url` is null if the server has no such origin.',
        tags,
        body: OpenAppBody,
        response: { 200: envelope(RunningApp) },
      },
    },
    async (request) => {
      const { user, session, apiKey, body } = request
      const origin = appsOrigin.of(request)
      const opened = await apps.open(user.id, body, {
        sessionId: session?.sid ?? null,
        apiKeyId: apiKey?.id ?? null,
        pageOrigin: pageOriginOf(request, publicUrl),
        appsOrigin: origin,
      })
      return success({ ...presentApp(opened), url: origin === null ? null : urlOf(origin, opened) })
    },
  )

  app.patch(
    '/api/apps/:id',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Allow an app to use the network, or no longer',
        description:
          'Holds for this user and file, also for later addresses, until a file of its folder gets new text from outside. `url` is null: once it is allowed, documents have the new rules when they are loaded again; when the permission ends, all addresses of the app end, and it must be opened again.',
        tags,
        params,
        body: PatchAppBody,
        response: { 200: envelope(RunningApp) },
      },
    },
    async (request) => {
      const { user, params: one, body } = request
      const changed = await apps.setNetwork(user.id, one.id, body.network, actorOf(request))
      return success({ ...presentApp(changed), url: null })
    },
  )
}

const presentApp = ({ row, network, tainted }: Omit<OpenedApp, 'token'>) => ({
  id: row.id,
  kind: row.kind,
  network,
  tainted,
  expires_at: row.expiresAt.toISOString(),
})

const urlOf = (origin: string, { token, row }: OpenedApp): string =>
  `${origin}/v/${token}/${row.path.split('/').map(encodeURIComponent).join('/')}`

/** The origin of the page that sent the request, which may frame the app. */
export function pageOriginOf(
  { headers, protocol, host }: FastifyRequest,
  publicUrl: string | undefined,
): string {
  const { origin } = headers
  if (origin !== undefined && PAGE_ORIGIN.test(origin)) return origin
  if (publicUrl !== undefined) return new URL(publicUrl).origin
  const own = `${protocol}://${host}`
  return PAGE_ORIGIN.test(own) ? own : "'none'"
}
