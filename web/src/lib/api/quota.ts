// Limits and what is used of them: one's own, and those of an account for administrators.
import { useQuery } from '@tanstack/react-query'
import type { QuotaReport } from '../../../../server/protocol/accounts/quota.ts'
import { request } from '../http/api-client.ts'

const useReport = (key: readonly unknown[], path: string, enabled = true) =>
  useQuery({
    enabled,
    queryKey: key,
    queryFn: ({ signal }) => request<QuotaReport>(path, { signal }),
    meta: { quiet: true },
  })

/** @param isNeeded false: nothing is requested, but what is already known is returned */
export const useQuota = (isNeeded = true) => useReport(['quota'], '/api/quota', isNeeded)

/** Limits and usage of any account, for administrators. */
export const useQuotaOf = (userId: string) =>
  useReport(['admin-quota', userId], `/api/admin/users/${userId}/quota`)
