// Administration: accounts, invitations, usage and the audit log.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type { PatchQuota } from '../../../../server/protocol/accounts/quota.ts'
import type { CreatedResetLink, Session, User } from '../../../../server/protocol/accounts/user.ts'
import type { AuditEntry } from '../../../../server/protocol/admin/audit.ts'
import type { AdminUser } from '../../../../server/protocol/admin/group.ts'
import type {
  CreatedInvitation,
  CreateInvitationBody,
  Invitation,
} from '../../../../server/protocol/admin/invitation.ts'
import type {
  ReportedUsage,
  UsageBy,
  UsageReport,
} from '../../../../server/protocol/admin/usage.ts'
import { saveFile } from '../browser/save-file.ts'
import { request, requestDone, send } from '../http/api-client.ts'
import { type PageOf, usePages } from '../http/pages.ts'

/** The query key of the list of accounts. */
export const usersKey = ['admin-users'] as const
const invitationsKey = ['admin-invitations'] as const
/** The newest invitations that the page shows. */
const SHOWN_INVITATIONS = 100

/** The filters of the list of accounts. */
export const ACCOUNT_KINDS = ['all', 'admin', 'user', 'disabled'] as const

/** One of these filters. */
export type AccountKind = (typeof ACCOUNT_KINDS)[number]
const ACCOUNT_QUERIES: Record<AccountKind, Record<string, string>> = {
  all: {},
  admin: { role: 'admin' },
  user: { role: 'user' },
  disabled: { is_active: 'false' },
}

/** The query key of `useAdminUsers`. */
export const matchingUsersKey = (text: string, kind: AccountKind) =>
  [...usersKey, text, kind] as const

/** Accounts of this kind that match `text`; an empty text matches all. */
export const useAdminUsers = (text: string, kind: AccountKind = 'all') =>
  usePages<AdminUser>(matchingUsersKey(text, kind), '/api/admin/users', {
    q: text,
    ...ACCOUNT_QUERIES[kind],
  })

/** Which audit entries; empty fields do not filter. */
export interface AuditFilter {
  action: string
  /** The id of the account that did it. */
  user_id: string
  /** Times as ISO 8601. */
  from: string
  to: string
}

/** The query key of `useAuditLog`. */
export const auditKey = (filter: AuditFilter) => ['admin-audit', filter] as const

/** Audit entries that match, newest first. */
export const useAuditLog = (filter: AuditFilter) =>
  usePages<AuditEntry>(auditKey(filter), '/api/admin/audit', { ...filter })

/** Downloads the matching entries of the audit log as `audit.jsonl`. */
export const useAuditDownload = () =>
  useMutation({
    mutationFn: async (filter: AuditFilter) => {
      const response = await send('/api/admin/audit/file', { query: { ...filter } })
      saveFile(await response.blob(), 'audit.jsonl')
    },
  })

/** The query key of `useUsage`. */
export const usageKey = (month: string, by: UsageBy) => ['admin-usage', month, by] as const

/** The usage of a month (`YYYY-MM`, UTC) by account or group, most tokens first. */
export const useUsage = (month: string, by: UsageBy) =>
  usePages<ReportedUsage, Pick<UsageReport, 'first_month' | 'total'>>(
    usageKey(month, by),
    '/api/admin/usage',
    { month, by, limit: 100 },
  )

/** Downloads the usage of a month as CSV. */
export const useUsageDownload = () =>
  useMutation({
    mutationFn: async ({ month, by }: { month: string; by: UsageBy }) => {
      const response = await send('/api/admin/usage/file', { query: { month, by } })
      saveFile(await response.blob(), `usage-${month}-by-${by}.csv`)
    },
  })

/** Changes an account's role, state or limits. Fields that are left out keep their values. */
export function usePatchUser() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({
      id,
      ...body
    }: {
      id: string
      role?: User['role']
      is_active?: boolean
      quota?: PatchQuota
    }) => request<User>(`/api/admin/users/${id}`, { method: 'PATCH', body }),
    onSettled: () => client.invalidateQueries({ queryKey: usersKey }),
  })
}

/** What happens to the data of a deleted account. */
export const ACCOUNT_DATA = ['delete', 'keep', 'hand_over'] as const

/** Deleted with the account, kept, or handed over to another account. */
export type AccountData = (typeof ACCOUNT_DATA)[number]

/** Deletes an account. `heir` is the id of the account that receives the data if it is handed over. */
export function useDeleteUser() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, data, heir }: { id: string; data: AccountData; heir: string }) =>
      requestDone(`/api/admin/users/${id}`, {
        method: 'DELETE',
        query: { data, heir_id: data === 'hand_over' ? heir : undefined },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: usersKey }),
  })
}

const sessionsOfKey = (id: string) => ['admin-sessions', id] as const

/** Where an account is signed in, most recently used first. */
export const useSessionsOf = (id: string) =>
  useQuery({
    queryKey: sessionsOfKey(id),
    queryFn: ({ signal }) =>
      request<{ items: Session[] }>(`/api/admin/users/${id}/sessions`, { signal }).then(
        ({ items }) => items,
      ),
    // A dialog shows it, and must not open with an old list.
    gcTime: 0,
    meta: { quiet: true },
  })

/** Ends one session of an account, or all of them. */
export function useEndSessionOf(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (session: string | 'all') =>
      requestDone(`/api/admin/users/${id}/sessions${session === 'all' ? '' : `/${session}`}`, {
        method: 'DELETE',
      }),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsOfKey(id) }),
  })
}

/** Removes an account's second factors: its password is enough again. */
export const useResetSecondFactors = () =>
  useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/admin/users/${id}/second-factors`, { method: 'DELETE' }),
  })

/** Creates a link for choosing a new password. The variable is the id of the account. */
export const useResetLink = () =>
  useMutation({
    mutationFn: (id: string) =>
      request<z.output<typeof CreatedResetLink>>(`/api/admin/users/${id}/reset-link`, {
        method: 'POST',
      }),
  })

/** The newest invitations, including used and expired ones. */
export const useInvitations = () =>
  useQuery({
    queryKey: invitationsKey,
    queryFn: ({ signal }) =>
      request<PageOf<Invitation>>('/api/admin/invitations', {
        query: { limit: SHOWN_INVITATIONS },
        signal,
      }).then(({ items }) => items),
    meta: { quiet: true },
  })

/** Creates an invitation. Only this response contains its link. */
export function useInvite() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: z.input<typeof CreateInvitationBody>) =>
      request<z.output<typeof CreatedInvitation>>('/api/admin/invitations', {
        method: 'POST',
        body,
      }),
    onSettled: () => client.invalidateQueries({ queryKey: invitationsKey }),
    meta: { quiet: true },
  })
}

/** Invalidates the link of an invitation. The variable is the id of the invitation. */
export function useWithdrawInvitation() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => requestDone(`/api/admin/invitations/${id}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: invitationsKey }),
  })
}
