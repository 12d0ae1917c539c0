// Routes for administrators: groups of accounts, their permissions and their members.
import { z } from 'zod'
import type { Access } from '../../access/access.ts'
import { quotaChanges } from '../../access/quota-changes.ts'
import type {
  CountedGroup,
  GroupRepository,
  GroupRow,
} from '../../db/repositories/accounts/groups.ts'
import type { UserRepository } from '../../db/repositories/accounts/users.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { withoutAbsent } from '../../lib/without-absent.ts'
import { fullQuota, fullSharedQuota } from '../../protocol/accounts/quota.ts'
import { User } from '../../protocol/accounts/user.ts'
import type { AuditDetails } from '../../protocol/admin/audit.ts'
import { CreateGroupBody, Group, GroupId, PatchGroupBody } from '../../protocol/admin/group.ts'
import { Deleted, envelope, PageQuery, page } from '../../protocol/envelope.ts'
import { UserId } from '../../protocol/ids.ts'
import { presentUser } from '../accounts/present-user.ts'
import { deleted, presentPage, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50
const MAX_GROUPS = 500
/** Marks the limits of all members together in audit entries. */
const SHARED = 'shared_'

/** The dependencies of the routes with which administrators manage groups. */
export interface AdminGroupDependencies {
  groups: GroupRepository
  users: Pick<UserRepository, 'find'>
  access: Pick<Access, 'reload'>
}

const Params = z.object({ id: GroupId })
const MemberParams = z.object({ id: GroupId, user_id: UserId })

/** `/api/admin/groups`. A change applies to the next request and the next run of each member. */
export function registerAdminGroupRoutes(app: App, dependencies: AdminGroupDependencies): void {
  registerGroups(app, dependencies)
  registerOneGroup(app, dependencies)
  registerMembers(app, dependencies)
}

/** Lists and creates groups. */
function registerGroups(app: App, { groups }: AdminGroupDependencies): void {
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
      config: {
        admin: true,
        audit: {
          action: 'group_created',
          fields: ['name', 'models', 'tools', 'mcp_servers', 'approval_modes'],
        },
      },
      schema: {
        summary: 'Create a group',
        description:
          'A restriction lists what members may use. Without one, the group does not restrict that kind.',
        body: CreateGroupBody,
        response: { 200: envelope(Group) },
      },
    },
    async (request) => {
      const { body } = request
      const { name, description = '', ...given } = body
      const { models = null, tools = null, mcp_servers = null, approval_modes = null } = given
      const permissions = { models, tools, mcp_servers, approval_modes }
      const fields = {
        name,
        description,
        permissions,
        quota: body.quota ?? null,
        sharedQuota: body.shared_quota ?? null,
      }
      request.audited = {
        ...quotaChanges({}, body.quota ?? {}),
        ...quotaChanges({}, body.shared_quota ?? {}, SHARED),
      }
      return success(present(await groups.create(fields, MAX_GROUPS)))
    },
  )
}

/** Reads, changes and deletes one group. */
function registerOneGroup(app: App, { groups, access }: AdminGroupDependencies): void {
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
      config: {
        admin: true,
        audit: {
          action: 'group_changed',
          fields: ['name', 'models', 'tools', 'mcp_servers', 'approval_modes'],
        },
      },
      schema: {
        summary: 'Update a group; `null` removes a restriction',
        params: Params,
        body: PatchGroupBody,
        response: { 200: envelope(Group) },
      },
    },
    async (request) => {
      const { params, body } = request
      const isKnown = await groups.change(params.id, (before) => {
        const after = changed(before, body)
        request.audited = {
          group: before.name,
          ...quotaChanges(before.quota ?? {}, after.quota),
          ...quotaChanges(before.sharedQuota ?? {}, after.sharedQuota, SHARED),
        }
        return after
      })
      if (!isKnown) throw appError('group_not_found')
      await access.reload()
      return success(await get(groups, params.id))
    },
  )

  app.delete(
    '/api/admin/groups/:id',
    {
      config: { admin: true, audit: { action: 'group_deleted' } },
      schema: {
        summary: 'Delete a group; its members remain',
        params: Params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { params } = request
      const { name } = await get(groups, params.id)
      if (!(await groups.remove(params.id))) throw appError('group_not_found')
      request.audited = { group: name }
      await access.reload()
      return deleted
    },
  )
}

/** Lists, adds and removes members. */
function registerMembers(app: App, { groups, users, access }: AdminGroupDependencies): void {
  /** Names for the audit log, which remain after the group or the account is deleted. */
  const namesOf = async (group: GroupId, user: UserId): Promise<AuditDetails> => {
    const [found, account] = await Promise.all([groups.find(group), users.find(user)])
    return withoutAbsent({ group: found?.name, account: account?.username })
  }

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
      config: { admin: true, audit: { action: 'group_member_added' } },
      schema: {
        summary: 'Add an account to a group',
        params: MemberParams,
        response: { 200: envelope(Group) },
      },
    },
    async (request) => {
      const { params } = request
      await groups.addMember(params.id, params.user_id)
      request.audited = await namesOf(params.id, params.user_id)
      await access.reload()
      return success(await get(groups, params.id))
    },
  )

  app.delete(
    '/api/admin/groups/:id/members/:user_id',
    {
      config: { admin: true, audit: { action: 'group_member_removed' } },
      schema: {
        summary: 'Remove an account from a group',
        params: MemberParams,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { params } = request
      if (!(await groups.removeMember(params.id, params.user_id)))
        throw appError('group_member_not_found')
      request.audited = await namesOf(params.id, params.user_id)
      await access.reload()
      return deleted
    },
  )
}

/** A group with the changes of a request. Absent fields stay unchanged. */
function changed(
  before: Pick<GroupRow, 'name' | 'description' | 'permissions' | 'quota' | 'sharedQuota'>,
  { name, description, quota, shared_quota, ...permissions }: z.output<typeof PatchGroupBody>,
) {
  return {
    name: name ?? before.name,
    description: description ?? before.description,
    permissions: { ...before.permissions, ...withoutAbsent(permissions) },
    quota: { ...before.quota, ...withoutAbsent(quota ?? {}) },
    sharedQuota: { ...before.sharedQuota, ...withoutAbsent(shared_quota ?? {}) },
  }
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
