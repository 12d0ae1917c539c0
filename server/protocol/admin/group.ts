// Groups of accounts on the wire: who is in them, and what their members may use.
import { z } from 'zod'
import { PatchQuota, PatchSharedQuota, Quota, SharedQuota } from '../accounts/quota.ts'
import { User } from '../accounts/user.ts'
import { ApprovalMode } from '../conversations/conversation.ts'
import { optional, Timestamp, withoutNul } from '../envelope.ts'

/** The id of a group of accounts; opaque. */
export const GroupId = z.string().min(1).max(64).brand<'GroupId'>()
export type GroupId = z.infer<typeof GroupId>

const MAX_NAMES = 500
const Names = z.array(withoutNul(z.string().min(1).max(200))).max(MAX_NAMES)

/** A part of the product that a group can withhold. */
export const Feature = z.enum(['schedules', 'channels', 'apps', 'sharing_projects'])
export type Feature = z.infer<typeof Feature>

/**
 * What members may use, by name; null if this group does not restrict it. Members of several groups may use what any group
 * that restricts it permits.
 */
const permissions = {
  models: Names.nullable(),
  /** Of the server's own tools; those of MCP servers follow from `mcp_servers`. */
  tools: Names.nullable(),
  mcp_servers: Names.nullable(),
  /** `ask` is always allowed. */
  approval_modes: z.array(ApprovalMode).max(ApprovalMode.options.length).nullable(),
  /** Parts of the product; those that are not listed do not exist for members. */
  features: z.array(Feature).max(Feature.options.length).nullable(),
}
/** What the members of a group may use; null means everything. */
export const GroupPermissions = z.object(permissions)
export type GroupPermissions = z.infer<typeof GroupPermissions>

const GroupQuotas = {
  /** The limits of each member. A member's own quota takes precedence. */
  quota: Quota,
  /** The limits of all members together. */
  shared_quota: SharedQuota,
}

const GroupName = withoutNul(z.string().trim().min(1).max(100))
const GroupDescription = withoutNul(z.string().trim().max(500))

/** A group of accounts, as administrators see it. */
export const Group = z
  .object({
    id: GroupId,
    name: z.string(),
    description: z.string(),
    ...permissions,
    ...GroupQuotas,
    member_count: z.int(),
    created_at: Timestamp,
  })
  .meta({ id: 'Group' })
export type Group = z.infer<typeof Group>

const fields = {
  description: optional(GroupDescription),
  models: permissions.models.optional(),
  tools: permissions.tools.optional(),
  mcp_servers: permissions.mcp_servers.optional(),
  approval_modes: permissions.approval_modes.optional(),
  features: permissions.features.optional(),
  quota: optional(PatchQuota),
  shared_quota: optional(PatchSharedQuota),
}

/** A group to create. An absent restriction is null. Unknown fields are refused. */
export const CreateGroupBody = z
  .strictObject({ name: GroupName, ...fields })
  .meta({ id: 'CreateGroup' })
export type CreateGroupBody = z.infer<typeof CreateGroupBody>

/** Changes of a group. An absent field stays unchanged; `null` removes a restriction. */
export const PatchGroupBody = z
  .strictObject({ name: optional(GroupName), ...fields })
  .meta({ id: 'PatchGroup' })
export type PatchGroupBody = z.infer<typeof PatchGroupBody>

/** An account as administrators see it. */
export const AdminUser = User.extend({
  groups: z.array(z.object({ id: GroupId, name: z.string() })),
  /** The account's own limits. Those of groups and of the server are at `/api/admin/users/:id/quota`. */
  quota: Quota,
}).meta({ id: 'AdminUser' })
export type AdminUser = z.infer<typeof AdminUser>
