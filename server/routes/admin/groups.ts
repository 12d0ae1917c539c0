// Routes for administrators: groups of accounts, their permissions and their members.

import { z } from 'zod'
import {
  addGroupMember,
  changeGroup,
  createGroup,
  deleteGroup,
  removeGroupMember,
} from '../../administration/groups.ts'
import type { CountedGroup, GroupRepository } from '../../db/repositories/accounts/groups.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { fullQuota, fullSharedQuota } from '../../protocol/accounts/quota.ts'
import { User } from '../../protocol/accounts/user.ts'
import { CreateGroupBody, Group, GroupId, PatchGroupBody } from '../../protocol/admin/group.ts'
import { Deleted, envelope, PageQuery, page } from '../../protocol/envelope.ts'
import { UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { presentUser } from '../accounts/present-user.ts'
import { deleted, presentPage, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50

const Params = z.object({ id: GroupId })
const MemberParams = z.object({ id: GroupId, user_id: UserId })

/** `/api/admin/groups`. A change applies to the next request and the next run of each member. */
export function registerAdminGroupRoutes(
  app: App,
  services: Pick<Services, 'store' | 'access' | 'membership'>,
): void {
  registerGroups(app, services)
  registerOneGroup(app, services)
  registerMembers(app, services)
}

/** Lists and creates groups. */
function registerGroups(app: App, services: Pick<Services, 'store'>): void {
  const { groups } = services.store
  app.get(
    '/api/admin/groups',
    {
      config: { admin: true },
      schema: {
        summary: 'List groups by name',
        querystring: PageQuery,
        response: { 200: envelope(page(Group)) },
      },
    },
    async ({ query }) => {
      const found = await groups.list({
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success(presentPage(found, present))
    },
  )

  app.post(
    '/api/admin/groups',
    {
      config: { admin: true },
      schema: {
        summary: 'Create a group',
        description:
          'A restriction lists what members may use. Without one, the group does not restrict that kind.',
        body: CreateGroupBody,
        response: { 200: envelope(Group) },
      },
    },
    async (request) =>
      success(present(await createGroup(services, actorOf(request), request.body))),
  )
}

/** Reads, changes and deletes one group. */
function registerOneGroup(
  app: App,
  services: Pick<Services, 'store' | 'access' | 'membership'>,
): void {
  const { groups } = services.store
  app.get(
    '/api/admin/groups/:id',
    {
      config: { admin: true },
      schema: { summary: 'Get a group', params: Params, response: { 200: envelope(Group) } },
    },
    async ({ params }) => success(await get(groups, params.id)),
  )

  app.patch(
    '/api/admin/groups/:id',
    {
      config: { admin: true },
      schema: {
        summary: 'Update a group; `null` removes a restriction',
        params: Params,
        body: PatchGroupBody,
        response: { 200: envelope(Group) },
      },
    },
    async (request) => {
      const { id } = request.params
      await changeGroup(services, actorOf(request), id, request.body)
      return success(await get(groups, id))
    },
  )

  app.delete(
    '/api/admin/groups/:id',
    {
      config: { admin: true },
      schema: {
        summary: 'Delete a group; its members remain',
        params: Params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await deleteGroup(services, actorOf(request), request.params.id)
      return deleted
    },
  )
}

/** Lists, adds and removes members. */
function registerMembers(
  app: App,
  services: Pick<Services, 'store' | 'access' | 'membership'>,
): void {
  const { groups } = services.store
  app.get(
    '/api/admin/groups/:id/members',
    {
      config: { admin: true },
      schema: {
        summary: 'List the members of a group by name',
        params: Params,
        querystring: PageQuery,
        response: { 200: envelope(page(User)) },
      },
    },
    async ({ params, query }) => {
      await get(groups, params.id)
      const found = await groups.listMembers(params.id, {
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success(presentPage(found, presentUser))
    },
  )

  app.put(
    '/api/admin/groups/:id/members/:user_id',
    {
      config: { admin: true },
      schema: {
        summary: 'Add an account to a group',
        params: MemberParams,
        response: { 200: envelope(Group) },
      },
    },
    async (request) => {
      const { id, user_id: userId } = request.params
      await addGroupMember(services, actorOf(request), { id, userId })
      return success(await get(groups, id))
    },
  )

  app.delete(
    '/api/admin/groups/:id/members/:user_id',
    {
      config: { admin: true },
      schema: {
        summary: 'Remove an account from a group',
        params: MemberParams,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { id, user_id: userId } = request.params
      await removeGroupMember(services, actorOf(request), { id, userId })
      return deleted
    },
  )
}

/** @throws AppError `group_not_found`. */
async function get(groups: Pick<GroupRepository, 'find'>, id: GroupId): Promise<Group> {
  const found = await groups.find(id)
  if (found === undefined) throw appError('group_not_found')
  return present(found)
}

const present = (group: CountedGroup): Group => ({
  id: group.id,
  name: group.name,
  description: group.description,
  ...group.permissions,
  quota: fullQuota(group.quota),
  shared_quota: fullSharedQuota(group.sharedQuota),
  member_count: group.members,
  created_at: group.createdAt.toISOString(),
})
