// Notifies others of what a request changed: a user's other tabs, from a table of routes, and the other instances.
import type { Change } from '../protocol/change.ts'
import { ConversationId, type UserId } from '../protocol/ids.ts'
import type { App } from './app.ts'

/** The parameters of the route. For `created`, `id` comes from the response. */
type RouteParams = { id: string; mid: string }
type Kind = Change['change']

const conversation =
  (change: Kind) =>
  ({ id }: RouteParams) =>
    ({ type: 'conversation', id, change }) as const
const message =
  (change: Kind) =>
  ({ id, mid }: RouteParams) =>
    ({ type: 'message', id: mid, change, conversation_id: ConversationId.parse(id) }) as const
const project =
  (change: Kind) =>
  ({ id }: RouteParams) =>
    ({ type: 'project', id, change }) as const
const settings = (id: string) => () => ({ type: 'settings', id, change: 'updated' }) as const

/** Runs and files of projects publish their own changes; the bulk route publishes those of many conversations. */
const CHANGES_BY_ROUTE: Readonly<Record<string, (params: RouteParams) => Change>> = {
  'POST /api/conversations': conversation('created'),
  'POST /api/conversations/import': conversation('created'),
  'POST /api/shared/:token/continue': conversation('created'),
  'PATCH /api/conversations/:id': conversation('updated'),
  'DELETE /api/conversations/:id': conversation('deleted'),
  'POST /api/conversations/:id/restore': conversation('created'),
  'DELETE /api/conversations/:id/messages/:mid': message('deleted'),
  'POST /api/conversations/:id/messages/:mid/revisions': message('created'),
  'PUT /api/conversations/:id/messages/:mid/feedback': message('updated'),
  'PUT /api/conversations/pins': settings('pins'),
  'POST /api/projects': project('created'),
  'POST /api/projects/upload': project('created'),
  'PUT /api/projects/:id': project('updated'),
  'POST /api/projects/:id/keep': project('created'),
  'DELETE /api/projects/:id': project('deleted'),
  'POST /api/projects/:id/documents': project('updated'),
  'POST /api/projects/:id/searchable-files': project('updated'),
  'DELETE /api/projects/:id/documents/:did': project('updated'),
  'PUT /api/memory': settings('memory'),
  'PATCH /api/preferences': settings('preferences'),
  'POST /api/conversations/:id/share': settings('shares'),
  'DELETE /api/conversations/:id/share': settings('shares'),
  'PATCH /api/auth/profile': settings('profile'),
  'POST /api/auth/keys': settings('keys'),
  'DELETE /api/auth/keys/:id': settings('keys'),
  'POST /api/channels': settings('channels'),
  'DELETE /api/channels/:id': settings('channels'),
  'POST /api/webhooks': settings('webhooks'),
  'PATCH /api/webhooks/:id': settings('webhooks'),
  'POST /api/webhooks/:id/secret': settings('webhooks'),
  'DELETE /api/webhooks/:id': settings('webhooks'),
  'POST /api/admin/models': settings('models'),
  'PATCH /api/admin/models/:id': settings('models'),
  'DELETE /api/admin/models/:id': settings('models'),
}

/** Register it before the routes. `publish` is called after the handler, and therefore after the commit. */
export function registerChangeNotices(
  app: App,
  publish: (userId: UserId, change: Change) => void,
): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const notice = CHANGES_BY_ROUTE[`${request.method} ${request.routeOptions.url}`]
    if (notice !== undefined && reply.statusCode < 300) {
      const params = textFields(request.params)
      const created = textFields(fieldOf(payload, 'data'))
      const place = {
        id: params.id ?? created.id ?? '',
        mid: params.mid ?? '',
      }
      publish(request.user.id, notice(place))
    }
    return payload
  })
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined

const textFields = (value: unknown): Partial<Record<string, string>> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([, field]) => typeof field === 'string'))
    : {}

const ADMINISTRATION = /^\/api\/admin\//

/**
 * Tells the other instances of each successful change by an administrator, whatever it changed: before the response, so that
 * what the administrator does next rarely arrives earlier there.
 */
export function announceChanges(app: App, instance: { announceRules(): void }): void {
  app.addHook('onSend', async ({ method, url }, { statusCode }) => {
    if (method !== 'GET' && statusCode < 400 && ADMINISTRATION.test(url)) instance.announceRules()
  })
}
