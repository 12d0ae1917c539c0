// The audit log on the wire: who did what to accounts, keys, approvals and data.
import { z } from 'zod'
import { PageQuery, Timestamp } from '../envelope.ts'
import { UserId } from '../ids.ts'

/** The kind of an audited action. Stored entries keep theirs, so names may be added but not removed. */
export const AuditAction = z.enum([
  'sign_in',
  'sign_in_failed',
  'sign_out',
  'register',
  'identity_linked',
  'second_factor_added',
  'second_factor_removed',
  'second_factor_reset',
  'recovery_codes_created',
  'keys_rotated',
  'session_reused',
  'sessions_ended',
  'password_reset',
  'reset_link_created',
  'key_created',
  'key_deleted',
  'account_changed',
  'account_deleted',
  'run_stopped',
  'settings_changed',
  'invitation_created',
  'invitation_deleted',
  'group_created',
  'group_changed',
  'group_deleted',
  'group_member_added',
  'group_member_removed',
  'model_added',
  'model_changed',
  'model_deleted',
  'mcp_server_added',
  'mcp_server_changed',
  'mcp_server_deleted',
  'webhook_created',
  'webhook_changed',
  'webhook_secret_replaced',
  'webhook_deleted',
  'approval_decided',
  'approvers_changed',
  'member_added',
  'member_changed',
  'member_removed',
  'approval_link_created',
  'grant_created',
  'grant_used',
  'grant_removed',
  'schedule_created',
  'schedule_changed',
  'schedule_deleted',
  'hook_token_replaced',
  'app_network_allowed',
  'app_network_ended',
  'mcp_app_domains_allowed',
  'mcp_app_domains_ended',
  'mcp_app_called',
  'sender_allowed',
  'sender_blocked',
  'share_created',
  'share_deleted',
  'exported',
  'audit_exported',
  'backup_created',
  'backup_restored',
  'folders_adopted',
  'database_moved',
])
export type AuditAction = z.infer<typeof AuditAction>

/** Details of an entry, for example the tool of an approval. They contain no secrets. */
export const AuditDetails = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
)
export type AuditDetails = z.infer<typeof AuditDetails>

/** Longer values are cut. */
const MAX_VALUE_CHARACTERS = 2000

/** The fields of a request that an entry holds. @param names null for all. */
export function auditedFields(source: unknown, names: readonly string[] | null): AuditDetails {
  const { data = {} } = z.record(z.string(), z.unknown()).safeParse(source)
  const details: AuditDetails = {}
  for (const [name, value] of Object.entries(data))
    if (names === null || names.includes(name)) {
      if (typeof value === 'string') details[name] = value.slice(0, MAX_VALUE_CHARACTERS)
      else if (typeof value === 'number' || typeof value === 'boolean') details[name] = value
      else if (Array.isArray(value)) details[name] = value.join(' ').slice(0, MAX_VALUE_CHARACTERS)
    }
  return details
}

/** Who performs an act and from where: the part of an entry that only the caller of the act knows. */
export const Actor = z.object({
  /** Null if nobody is signed in, and for the command line. */
  userId: UserId.nullable(),
  username: z.string().nullable(),
  /** Null without a request. */
  address: z.string().nullable(),
  /** How the act was requested, for example with which API key. */
  details: AuditDetails,
})
export type Actor = z.infer<typeof Actor>

/** The operator at a terminal. */
export const COMMAND_LINE: Actor = {
  userId: null,
  username: null,
  address: null,
  details: { by: 'command line' },
}

/** The server by itself, when something is due. */
export const SCHEDULE: Actor = {
  userId: null,
  username: null,
  address: null,
  details: { by: 'schedule' },
}

/** An entry of the audit log: who did what to what, and from where. */
export const AuditEntry = z
  .object({
    id: z.string(),
    at: Timestamp,
    action: AuditAction,
    /**
     * For sign-ins and registrations, the account that somebody signed in to. Null if there is none, or if the operator did
     * it on the command line.
     */
    user_id: UserId.nullable(),
    /** The name at that time. It stays when the account is deleted. */
    username: z.string().nullable(),
    address: z.string().nullable(),
    details: AuditDetails,
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditFilter = z.object({
  action: AuditAction.optional(),
  user_id: UserId.optional(),
  from: Timestamp.optional(),
  to: Timestamp.optional(),
})
export const AuditQuery = PageQuery.extend(AuditFilter.shape)
