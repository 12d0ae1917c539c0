// The limits that apply to a user: the user's own, else the most generous of the user's groups, else the server's.

import {
  type PatchQuota,
  type Quota,
  QuotaKindName,
  type SharedQuota,
} from '../protocol/accounts/quota.ts'
import type { UserId } from '../protocol/ids.ts'

/** A limit on what some users may spend on model calls together. */
export interface SpendingLimit {
  users: readonly UserId[]
  /** The name of the group whose members share it; null for a limit of one user. */
  group: string | null
  quota: SharedQuota
}

/** If several groups limit a kind, the largest limit applies. */
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
