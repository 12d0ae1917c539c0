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
import { hashLinkToken, newLinkToken } from '../lib/link-token.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import type { PatchQuota } from '../protocol/accounts/quota.ts'
import { type Actor, type AuditDetails, auditedFields } from '../protocol/admin/audit.ts'
import type { GroupId } from '../protocol/admin/group.ts'
import type { Page } from '../protocol/envelope.ts'
import type { UserId } from '../protocol/ids.ts'

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
    lifetimeMs: number
    actor: Actor
    /** More for the audit entry, which is part of the act. */
    details: AuditDetails
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
  /** Adds the audit entry, too. Resolves to false if there is no such invitation. */
  removeInvitation(id: string, actor: Actor): Promise<boolean>
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

/** What links to accounts depend on. */
interface LinksState {
  accountLinks: AccountLinkRepository
  quotas: Pick<QuotaRepository, 'insert'>
  groups: Pick<GroupRepository, 'join'>
  audit: Pick<AuditRepository, 'record'>
  readonly now: () => Date
}

/** Only hashes are stored, so a lost link can only be replaced. */
export function createAccountLinks(
  options: {
    accountLinks: AccountLinkRepository
    quotas: Pick<QuotaRepository, 'insert'>
    groups: Pick<GroupRepository, 'join'>
    audit: Pick<AuditRepository, 'record'>
  },
  now: () => Date = () => new Date(),
): AccountLinks {
  const state: LinksState = {
    ...options,
    now,
  }
  return {
    invite: (invitation) => invite(state, invitation),

    createReset: (account, actor, options) => createReset(state, account, actor, options),

    createConfirmation: (userId, address) => createConfirmation(state, userId, address),

    async confirmation(token, from) {
      const link = await find(state, token, from)
      const { userId, note: address } = link ?? { userId: null, note: null }
      if (link?.kind !== 'confirmation' || userId === null || address === null) throw invalid()
      return {
        userId,
        address,
        use: (tx) => state.accountLinks.use(tx, link.id, userId, state.now()),
      }
    },

    list: (page) => state.accountLinks.listInvitations(page),
    removeInvitation: (id, actor) =>
      state.accountLinks.removeInvitation(id, (tx) =>
        state.audit.record(tx, actor, {
          action: 'invitation_deleted',
          at: state.now(),
          details: { id },
        }),
      ),
    find: (token) => find(state, token),

    admission: (from, token) => admission(state, from, token),

    async reset(from, token) {
      const link = await find(state, token, from)
      const userId = link?.userId
      if (link?.kind !== 'reset' || userId == null) throw invalid()
      return { userId, use: (tx) => state.accountLinks.use(tx, link.id, userId, state.now()) }
    },
  }
}

const find = (
  state: LinksState,
  token: string,
  from?: Reader,
): Promise<
  | {
      id: string
      createdAt: Date
      userId: UserId | null
      expiresAt: Date
      role: 'admin' | 'user'
      kind: 'invitation' | 'reset' | 'confirmation'
      hash: string
      quota: PatchQuota | null
      groupId: GroupId | null
      note: string | null
      createdBy: UserId | null
      usedAt: Date | null
    }
  | undefined
> => state.accountLinks.findUsable(hashLinkToken(token), state.now(), from)

async function create(
  state: LinksState,
  link: Omit<Parameters<AccountLinkRepository['insert']>[0], 'hash' | 'expiresAt'>,
  options: { lifetimeMs: number } & Omit<Parameters<AccountLinkRepository['insert']>[1], 'now'>,
): Promise<{ row: AccountLinkRow; token: string }> {
  const token = newLinkToken()
  const time = state.now()
  const row = await state.accountLinks.insert(
    {
      ...link,
      hash: hashLinkToken(token),
      expiresAt: new Date(time.getTime() + options.lifetimeMs),
    },
    { ...options, now: time },
  )
  if (row === null) throw appError('invitations_exhausted', { limit: options.atMost })
  return { row, token }
}

const invite = (
  state: LinksState,
  {
    role,
    quota = {},
    groupId,
    note,
    actor,
    details,
    lifetimeMs,
  }: {
    role: 'admin' | 'user'
    /** Limits that the account gets when it is created. */
    quota?: PatchQuota | undefined
    /** The group that the account joins when it is created. */
    groupId?: GroupId | undefined
    note: string | null
    lifetimeMs: number
    actor: Actor
    /** More for the audit entry, which is part of the act. */
    details: AuditDetails
  },
): Promise<{ row: AccountLinkRow; token: string }> =>
  create(
    state,
    {
      kind: 'invitation',
      role,
      quota: hasLimit(quota) ? withoutAbsent(quota) : null,
      groupId: groupId ?? null,
      note,
      createdBy: actor.userId,
      userId: null,
    },
    {
      lifetimeMs,
      atMost: MAX_INVITATIONS,
      after: (tx) =>
        state.audit.record(tx, actor, {
          action: 'invitation_created',
          at: state.now(),
          details: { ...auditedFields({ role, note }, null), ...details },
        }),
    },
  )

const createReset = (
  state: LinksState,
  { id, username }: Pick<UserRow, 'id' | 'username'>,
  actor: Actor,
  {
    lifetimeMs = RESET_LIFETIME_MS,
    keepsEarlier = false,
    details = {},
  }: { lifetimeMs?: number; keepsEarlier?: boolean; details?: AuditDetails } | undefined = {},
): Promise<{ row: AccountLinkRow; token: string }> =>
  create(
    state,
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
        state.audit.record(tx, actor, {
          action: 'reset_link_created',
          at: state.now(),
          details: { id, account: username, ...details },
        }),
    },
  )

const createConfirmation = (
  state: LinksState,
  userId: UserId,
  address: string,
): Promise<{ token: string }> =>
  create(
    state,
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
  )

async function admission(state: LinksState, from: Reader, token: string): Promise<Admission> {
  const link = await find(state, token, from)
  if (link?.kind !== 'invitation') throw invalid()
  const { role, quota, groupId } = link
  return {
    role,
    async onCreated(tx, id) {
      await state.accountLinks.use(tx, link.id, id, state.now())
      if (quota !== null) await state.quotas.insert(tx, id, quota)
      if (groupId !== null) await state.groups.join(tx, groupId, id)
    },
  }
}
