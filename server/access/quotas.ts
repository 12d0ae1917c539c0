// The limits that apply to a user: their own, else the most generous of their groups, else the server's.

import {
  type PatchQuota,
  type Quota,
  QuotaKindName,
  type SharedQuota,
} from '../protocol/accounts/quota.ts'
import type { UserId } from '../protocol/ids.ts'

/** A limit of what some users may spend on model calls together. */
export interface SpendingLimit {
  users: readonly UserId[]
  /** The name of the group whose members share it; null: it is one user's. */
  group: string | null
  quota: SharedQuota
}

/** Of the groups that limit a kind, the largest limit applies. */
export function effectiveQuota(
  own: PatchQuota | undefined,
  groups: readonly PatchQuota[],
  defaults: Quota,
): Quota {
  const quota = { ...defaults }
  for (const kind of QuotaKindName.options) {
    const limits = groups.flatMap((group) => group[kind] ?? [])
    const largest = limits.length === 0 ? null : Math.max(...limits)
    quota[kind] = own?.[kind] ?? largest ?? defaults[kind]
  }
  return quota
}

/** Whether the quota limits tokens or cost. */
export const limitsSpending = (quota: SharedQuota): boolean =>
  quota.tokens_per_day !== null ||
  quota.tokens_per_month !== null ||
  quota.cost_per_day !== null ||
  quota.cost_per_month !== null
