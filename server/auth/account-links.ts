// Invitations and reset links: created by an administrator, used once, stored as a hash.
import type { Reader, Writer } from '../db/database.ts'
import type {
  AccountLinkRepository,
  AccountLinkRow,
  InvitationRow,
} from '../db/repositories/accounts/account-links.ts'
import type { AuditRepository } from '../db/repositories/accounts/audit.ts'
import type { GroupRepository } from '../db/repositories/accounts/groups.ts'
import type { QuotaRepository } from '../db/repositories/accounts/quotas.ts'
import type { Admission, UserRow } from '../db/repositories/accounts/users.ts'
import { type AppError, appError } from '../errors.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import type { PatchQuota } from '../protocol/accounts/quota.ts'
import type { Actor, AuditDetails } from '../protocol/admin/audit.ts'
import type { GroupId } from '../protocol/admin/group.ts'
import type { Page } from '../protocol/envelope.ts'
import type { UserId } from '../protocol/ids.ts'
import { hashLinkToken, newLinkToken } from './link-token.ts'

/** Invitations and links for resetting passwords or confirming addresses. Each works once; only its hash is stored. */
export interface AccountLinks {
  /** `token` cannot be retrieved later. @throws AppError `invitations_exhausted`. */
  invite(invitation: {
    role: 'admin' | 'user'
    /** Limits that the account gets when it is created. */
    quota?: PatchQuota | undefined
    /** The group that the account joins when it is created. */
    groupId?: GroupId | undefined
    note: string | null
    /** Null for the operator on the command line. */
    createdBy: UserId | null
    lifetimeMs: number
  }): Promise<{ row: AccountLinkRow; token: string }>
  /**
   * Creates a link with which the owner of the account chooses a new password, and adds the audit entry. It replaces earlier
   * ones unless `keepsEarlier` is set.
   */
  createReset(
    account: Pick<UserRow, 'id' | 'username'>,
    actor: Actor,
    options?: { lifetimeMs?: number; keepsEarlier?: boolean; details?: AuditDetails },
  ): Promise<{ row: AccountLinkRow; token: string }>
  /** Creates a link with which the owner of an email address confirms that the server may send this user's email to it. */
  createConfirmation(userId: UserId, address: string): Promise<{ token: string }>
  /**
   * The address of a confirmation link, and a write that marks the link as used. @throws AppError `account_link_invalid`.
   */
  confirmation(
    token: string,
    from?: Reader,
  ): Promise<{ userId: UserId; address: string; use(tx: Writer): Promise<void> }>
  /** All invitations, newest first. */
  list(page: { limit: number; cursor?: string | undefined }): Promise<Page<InvitationRow>>
  /** Resolves to false if there is no such invitation. */
  removeInvitation(id: string): Promise<boolean>
  /** What a link is for; undefined if it cannot be used, or no longer. */
  find(token: string): Promise<AccountLinkRow | undefined>
  /** What an invitation allows. @throws AppError `account_link_invalid`. */
  admission(from: Reader, token: string): Promise<Admission>
  /** The account of a reset link, and a write that marks the link as used. @throws AppError `account_link_invalid`. */
  reset(from: Reader, token: string): Promise<{ userId: UserId; use(tx: Writer): Promise<void> }>
}

/** Maximum number of open invitations. */
const MAX_INVITATIONS = 500
const MAX_RESETS = 10_000
const RESET_LIFETIME_MS = 24 * 60 * 60_000

const invalid = (): AppError => appError('account_link_invalid')

const hasLimit = (quota: PatchQuota): boolean => Object.values(quota).some((limit) => limit != null)

/** Only hashes are stored, so a lost link can only be replaced. */
export function createAccountLinks(
  {
    accountLinks: links,
    quotas,
    groups,
    audit,
  }: {
    accountLinks: AccountLinkRepository
    quotas: Pick<QuotaRepository, 'insert'>
    groups: Pick<GroupRepository, 'join'>
    audit: Pick<AuditRepository, 'record'>
  },
  now: () => Date = () => new Date(),
): AccountLinks {
  const find = (token: string, from?: Reader) => links.findUsable(hashLinkToken(token), now(), from)

  async function create(
    link: Omit<Parameters<AccountLinkRepository['insert']>[0], 'hash' | 'expiresAt'>,
    options: { lifetimeMs: number } & Omit<Parameters<AccountLinkRepository['insert']>[1], 'now'>,
  ): Promise<{ row: AccountLinkRow; token: string }> {
    const token = newLinkToken()
    const at = now()
    const row = await links.insert(
      {
        ...link,
        hash: hashLinkToken(token),
        expiresAt: new Date(at.getTime() + options.lifetimeMs),
      },
      { ...options, now: at },
    )
    if (row === null) throw appError('invitations_exhausted', { limit: options.atMost })
    return { row, token }
  }

  return {
    invite: ({ role, quota = {}, groupId, note, createdBy, lifetimeMs }) =>
      create(
        {
          kind: 'invitation',
          role,
          quota: hasLimit(quota) ? withoutAbsent(quota) : null,
          groupId: groupId ?? null,
          note,
          createdBy,
          userId: null,
        },
        { lifetimeMs, atMost: MAX_INVITATIONS },
      ),

    createReset: (
      { id, username },
      actor,
      { lifetimeMs = RESET_LIFETIME_MS, keepsEarlier = false, details = {} } = {},
    ) =>
      create(
        {
          kind: 'reset',
          role: 'user',
          quota: null,
          groupId: null,
          note: null,
          createdBy: actor.userId,
          userId: id,
        },
        {
          lifetimeMs,
          atMost: MAX_RESETS,
          keepsEarlier,
          after: (tx) =>
            audit.record(tx, actor, {
              action: 'reset_link_created',
              at: now(),
              details: { id, account: username, ...details },
            }),
        },
      ),

    createConfirmation: (userId, address) =>
      create(
        {
          kind: 'confirmation',
          role: 'user',
          quota: null,
          groupId: null,
          note: address,
          createdBy: null,
          userId,
        },
        { lifetimeMs: RESET_LIFETIME_MS, atMost: MAX_RESETS },
      ),

    async confirmation(token, from) {
      const link = await find(token, from)
      const { userId, note: address } = link ?? { userId: null, note: null }
      if (link?.kind !== 'confirmation' || userId === null || address === null) throw invalid()
      return { userId, address, use: (tx) => links.use(tx, link.id, userId, now()) }
    },

    list: (page) => links.listInvitations(page),
    removeInvitation: (id) => links.removeInvitation(id),
    find: (token) => find(token),

    async admission(from, token) {
      const link = await find(token, from)
      if (link?.kind !== 'invitation') throw invalid()
      const { role, quota, groupId } = link
      return {
        role,
        async onCreated(tx, id) {
          await links.use(tx, link.id, id, now())
          if (quota !== null) await quotas.insert(tx, id, quota)
          if (groupId !== null) await groups.join(tx, groupId, id)
        },
      }
    },

    async reset(from, token) {
      const link = await find(token, from)
      const userId = link?.userId
      if (link?.kind !== 'reset' || userId == null) throw invalid()
      return { userId, use: (tx) => links.use(tx, link.id, userId, now()) }
    },
  }
}
