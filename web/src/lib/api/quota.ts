// Quotas and their usage: the user's own, and those of any account for administrators.
import { useQuery } from '@tanstack/react-query'
import type { QuotaReport, StorageUse } from '../../../../server/protocol/accounts/quota.ts'
import { request } from '../http/api-client.ts'

const useReport = (key: readonly unknown[], path: string, enabled = true) =>
  useQuery({
    enabled,
    queryKey: key,
    queryFn: ({ signal }) => request<QuotaReport>(path, { signal }),
    meta: { quiet: true },
  })

/** The user's quota and its usage. With `isNeeded` false it returns what is cached and sends no request. */
export const useQuota = (isNeeded = true) => useReport(['quota'], '/api/quota', isNeeded)

/** The quota and usage of an account, for administrators. */
export const useQuotaOf = (userId: string) =>
  useReport(['admin-quota', userId], `/api/admin/users/${userId}/quota`)

/** What the user stores, by kind. */
export const useStorageUse = () =>
  useQuery({
    queryKey: ['storage-use'],
    queryFn: ({ signal }) => request<StorageUse>('/api/quota/storage', { signal }),
    // The things that it counts change elsewhere.
    staleTime: 0,
    meta: { quiet: true },
  })
