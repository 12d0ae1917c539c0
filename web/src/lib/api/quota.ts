// Limits and what is used of them: one's own, and those of an account for administrators.
import { useQuery } from '@tanstack/react-query'
import type { QuotaReport } from '../../../../server/protocol/accounts/quota.ts'
import { request } from '../api-client.ts'

const useReport = (key: readonly unknown[], path: string) =>
  useQuery({
    queryKey: key,
    queryFn: ({ signal }) => request<QuotaReport>(path, { signal }),
    meta: { quiet: true },
  })

export const useQuota = () => useReport(['quota'], '/api/quota')

export const useQuotaOf = (userId: string) =>
  useReport(['admin-quota', userId], `/api/admin/users/${userId}/quota`)
