// Routes for grants: stored permissions for tool calls, so that a person is not asked again.
import { z } from 'zod'
import type { ListedGrant } from '../../db/repositories/runs/grants.ts'
import { appError } from '../../errors.ts'
import { isStale, scopeOf } from '../../grants/covering.ts'
import { createGrant, previewGrant } from '../../grants/create.ts'
import { removeGrant } from '../../grants/remove.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Deleted, envelope, PageQuery, page } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import {
  CreateGrantBody,
  Grant,
  GrantPreview,
  PreviewGrantBody,
} from '../../protocol/runs/grant.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50
const tags = ['grants']
const params = z.object({ id: z.string().max(64) })

type Needed = Pick<Services, 'store' | 'database' | 'registry' | 'changes' | 'now'>

/** `/api/grants` and the routes below. */
export function registerGrantRoutes(app: App, services: Needed): void {
  const { store, database, registry, changes, now } = services
  const dependencies = { store, database, registry, announce: changes.publish, now }
  const present = presenterOf(services)

  app.get(
    '/api/grants',
    {
      schema: {
        summary: 'List your grants, newest first',
        description:
          'Includes what `remember` has stored in decisions: such a grant has `match: null` and holds for every call of its tool.',
        tags,
        querystring: PageQuery,
        response: { 200: envelope(page(Grant)) },
      },
    },
    async ({ user, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      const found = await store.grants.list(user.id, { limit, cursor })
      return success({
        items: found.items.map((grant) => present(user.id, grant)),
        next_cursor: found.nextCursor,
        has_more: found.hasMore,
      })
    },
  )

  app.get(
    '/api/grants/:id',
    {
      schema: { summary: 'Get a grant', tags, params, response: { 200: envelope(Grant) } },
    },
    async ({ user, params: { id } }) => {
      const found = await store.grants.find(user.id, id)
      if (found === undefined) throw appError('grant_not_found')
      return success(present(user.id, found))
    },
  )

  app.post(
    '/api/grants',
    {
      schema: {
        summary: 'Create a grant: calls that match it run without asking you',
        description:
          'Refused with 409 `grant_allows_rejected`, and samples in `details`, if it would have allowed a call that you rejected in the last 90 days, unless you send `anyway: true`.',
        tags,
        body: CreateGrantBody,
        response: { 200: envelope(Grant) },
      },
    },
    async (request) => {
      const { user, body } = request
      const { row, place } = await createGrant(user.id, body, actorOf(request), dependencies)
      return success(present(user.id, { ...row, scopeName: place.name }))
    },
  )

  app.post(
    '/api/grants/preview',
    {
      schema: {
        summary: 'Show what a grant would have allowed, without creating it',
        description:
          'Replays it over the calls of the tool that you decided in its scope in the last 90 days. With `approval_id`, also suggests the narrowest match for that call; `match` may then be left out.',
        tags,
        body: PreviewGrantBody,
        response: { 200: envelope(GrantPreview) },
      },
    },
    async ({ user, body }) => success(await previewGrant(user.id, body, dependencies)),
  )

  app.delete(
    '/api/grants/:id',
    {
      schema: {
        summary: 'Remove a grant: from the next call on, you are asked again',
        tags,
        params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await removeGrant(request.user.id, request.params.id, actorOf(request), dependencies)
      return deleted
    },
  )
}

/** The wire format of a grant. A tool that the user does not have at the moment has not changed. */
const presenterOf =
  ({ registry }: Pick<Services, 'registry'>) =>
  (userId: UserId, grant: ListedGrant): Grant => {
    const tool = registry.snapshot(userId).get(grant.tool)
    return {
      id: grant.id,
      ...scopeOf(grant),
      scope_name: grant.scopeName,
      tool: grant.tool,
      match: grant.match,
      even_tainted: grant.evenTainted,
      run_id: grant.runId,
      expires_at: grant.expiresAt?.toISOString() ?? null,
      max_uses: grant.maxUses,
      uses: grant.uses,
      last_used_at: grant.lastUsedAt?.toISOString() ?? null,
      created_at: grant.createdAt.toISOString(),
      created_from: grant.createdFrom,
      stale: tool !== undefined && isStale(grant, tool),
    }
  }
