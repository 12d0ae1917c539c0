// What administrators do with groups: create, change and delete them, add and remove members. Each act leaves its audit entry.
import type { z } from 'zod'
import type { Access } from '../access/access.ts'
import { quotaChanges } from '../access/quota-changes.ts'
import type { CountedGroup, GroupFields } from '../db/repositories/accounts/groups.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import { type Actor, auditedFields } from '../protocol/admin/audit.ts'
import type { CreateGroupBody, GroupId, PatchGroupBody } from '../protocol/admin/group.ts'
import type { UserId } from '../protocol/ids.ts'
import { endLostAccess, type MemberDependencies } from '../workspace/change-members.ts'

const MAX_GROUPS = 500
/** Marks the limits of all members together in audit entries. */
const SHARED = 'shared_'
/** The fields of a request that its entry holds. */
const AUDITED = ['name', 'models', 'tools', 'mcp_servers', 'approval_modes', 'features'] as const

interface GroupDependencies {
  store: Pick<Store, 'groups' | 'audit'>
  access: Pick<Access, 'reload'>
}

/** Also what ends in projects that the group is a member of. */
type WithProjects = GroupDependencies & { membership: MemberDependencies }

/** @throws AppError `group_name_taken`, `groups_exhausted`. */
export async function createGroup(
  { store: { groups, audit } }: Pick<GroupDependencies, 'store'>,
  actor: Actor,
  body: z.output<typeof CreateGroupBody>,
): Promise<CountedGroup> {
  const { name, description = '', quota = null, shared_quota: sharedQuota = null } = body
  const { models = null, tools = null, mcp_servers = null } = body
  const { approval_modes = null, features = null } = body
  const permissions = { models, tools, mcp_servers, approval_modes, features }
  return await groups.create(
    { name, description, permissions, quota, sharedQuota },
    MAX_GROUPS,
    (tx) =>
      audit.record(tx, actor, {
        action: 'group_created',
        at: new Date(),
        details: {
          ...auditedFields(body, AUDITED),
          ...quotaChanges({}, quota ?? {}),
          ...quotaChanges({}, sharedQuota ?? {}, SHARED),
        },
      }),
  )
}

/** Absent fields stay unchanged. @throws AppError `group_not_found`, `group_name_taken`. */
export async function changeGroup(
  { store: { groups, audit }, access }: GroupDependencies,
  actor: Actor,
  id: GroupId,
  body: z.output<typeof PatchGroupBody>,
): Promise<void> {
  const isKnown = await groups.change(
    id,
    (before) => changed(before, body),
    (tx, before, after) =>
      audit.record(tx, actor, {
        action: 'group_changed',
        at: new Date(),
        details: {
          id,
          ...auditedFields(body, AUDITED),
          group: before.name,
          ...quotaChanges(before.quota ?? {}, after.quota ?? {}),
          ...quotaChanges(before.sharedQuota ?? {}, after.sharedQuota ?? {}, SHARED),
        },
      }),
  )
  if (!isKnown) throw appError('group_not_found')
  await access.reload()
}

/** A group with the changes of a request. */
const changed = (
  before: GroupFields,
  { name, description, quota, shared_quota, ...permissions }: z.output<typeof PatchGroupBody>,
): GroupFields => ({
  name: name ?? before.name,
  description: description ?? before.description,
  permissions: { ...before.permissions, ...withoutAbsent(permissions) },
  quota: { ...before.quota, ...withoutAbsent(quota ?? {}) },
  sharedQuota: { ...before.sharedQuota, ...withoutAbsent(shared_quota ?? {}) },
})

/** Its members remain. @throws AppError `group_not_found`. */
export async function deleteGroup(
  { store: { groups, audit }, access, membership }: WithProjects,
  actor: Actor,
  id: GroupId,
): Promise<void> {
  const projects = await membership.store.members.ofGroups([id])
  const isKnown = await groups.remove(id, (tx, group) =>
    audit.record(tx, actor, {
      action: 'group_deleted',
      at: new Date(),
      details: { id, group },
    }),
  )
  if (!isKnown) throw appError('group_not_found')
  await access.reload()
  await endLostAccess(projects, membership)
}

/** @throws AppError `group_not_found`, `account_not_found`. */
export async function addGroupMember(
  { store: { groups, audit }, access, membership }: WithProjects,
  actor: Actor,
  { id, userId }: { id: GroupId; userId: UserId },
): Promise<void> {
  await groups.addMember(id, userId, (tx, names) =>
    audit.record(tx, actor, {
      action: 'group_member_added',
      at: new Date(),
      details: { id, user_id: userId, ...withoutAbsent(names) },
    }),
  )
  await changedGroups(userId, { added: [id], removed: [] }, { access, membership })
}

/** @throws AppError `group_member_not_found`. */
export async function removeGroupMember(
  { store: { groups, audit }, access, membership }: WithProjects,
  actor: Actor,
  { id, userId }: { id: GroupId; userId: UserId },
): Promise<void> {
  const wasMember = await groups.removeMember(id, userId, (tx, names) =>
    audit.record(tx, actor, {
      action: 'group_member_removed',
      at: new Date(),
      details: { id, user_id: userId, ...withoutAbsent(names) },
    }),
  )
  if (!wasMember) throw appError('group_member_not_found')
  await changedGroups(userId, { added: [], removed: [id] }, { access, membership })
}

/**
 * What follows when an account has joined and left groups, by whatever way: its permissions, and the projects of these groups.
 * Resolves when what it has lost has ended.
 */
export async function changedGroups(
  userId: UserId,
  { added, removed }: { added: readonly GroupId[]; removed: readonly GroupId[] },
  { access, membership }: Pick<WithProjects, 'access' | 'membership'>,
): Promise<void> {
  await access.reload()
  const { store, announce } = membership
  const left = removed.length === 0 ? [] : await store.members.ofGroups(removed)
  await endLostAccess(left, membership)
  for (const id of left)
    if ((await store.projects.find(userId, id)) === undefined)
      announce(userId, { type: 'project', id, change: 'deleted' })
  for (const id of added.length === 0 ? [] : await store.members.ofGroups(added))
    announce(userId, { type: 'project', id, change: 'created' })
}
