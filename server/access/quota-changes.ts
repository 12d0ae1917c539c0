// Changes of limits as details of an audit entry.
import { type PatchQuota, QuotaKindName } from '../protocol/accounts/quota.ts'
import type { AuditDetails } from '../protocol/admin/audit.ts'

/**
 * Each limit that differs, with its value before and after: `{ tokens_per_day: 'none → 5000' }`.
 * @param prefix prefix of the names; distinguishes several quotas in one entry.
 */
export function quotaChanges(before: PatchQuota, after: PatchQuota, prefix = ''): AuditDetails {
  const details: AuditDetails = {}
  for (const kind of QuotaKindName.options) {
    const [from, to] = [before[kind] ?? null, after[kind] ?? null]
    if (from !== to) details[prefix + kind] = `${from ?? 'none'} → ${to ?? 'none'}`
  }
  return details
}
