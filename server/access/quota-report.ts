// Reports how much of each limit is used, for users and administrators.
import type { DayRange } from '../db/repositories/accounts/token-usage.ts'
import type { Store } from '../db/store.ts'
import {
  type QuotaItem,
  type QuotaKind,
  QuotaKindName,
  type QuotaReport,
} from '../protocol/accounts/quota.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { UserId } from '../protocol/ids.ts'
import type { SpeechOffer } from '../protocol/speech.ts'
import type { Access } from './access.ts'

type Used = Pick<QuotaItem, 'used' | 'currency'>

/** Returns the report of one user: every limit that applies, how much of it is used, and when it is renewed. */
export function createQuotaReport({
  access,
  store,
  defaultApproval,
  speech,
  now,
}: {
  access: Pick<Access, 'quota' | 'spendingLimits' | 'approvalMode' | 'approvalModes'>
  store: Pick<Store, 'tokenUsage' | 'quotas' | 'storage' | 'runs' | 'schedules' | 'members'>
  /** The mode of conversations that have not chosen one. */
  defaultApproval(): ApprovalMode
  /** Which services for speech there are. */
  speech: SpeechOffer
  now(): Date
}): (userId: UserId) => Promise<QuotaReport> {
  async function spent(users: readonly UserId[], kind: QuotaKind, range: DayRange): Promise<Used> {
    const { tokens, cost } = await store.tokenUsage.total(users, range)
    if (kind.startsWith('tokens')) return { used: tokens, currency: null }
    const [currency, amount] = [...cost].toSorted((one, other) => other[1] - one[1])[0] ?? [null, 0]
    return { used: amount, currency }
  }

  async function usedOf(
    users: readonly UserId[],
    userId: UserId,
    kind: QuotaKind,
    { day, month }: { day: DayRange; month: DayRange },
  ): Promise<Used> {
    const count = (used: number | null): Used => ({ used, currency: null })
    if (kind === 'tokens_per_day' || kind === 'cost_per_day') return await spent(users, kind, day)
    if (kind === 'tokens_per_month' || kind === 'cost_per_month')
      return await spent(users, kind, month)
    if (kind === 'concurrent_runs') return count(await store.runs.countUnfinished(userId))
    if (kind === 'storage')
      return count((await store.storage.used(userId)) + (await store.storage.history(userId)))
    if (kind === 'program_seconds_per_day')
      return count(await store.quotas.usage(userId, 'program_seconds', day))
    if (kind === 'messages_per_day') return count(await store.quotas.usage(userId, 'messages', day))
    if (kind === 'schedules') return count(await store.schedules.total(userId))
    if (kind === 'projects_shared') return count(await store.members.shared(userId))
    return count(null)
  }

  return async (userId) => {
    const moment = now()
    const today = moment.toISOString().slice(0, 10)
    const ranges = {
      day: { from: today, to: today },
      month: { from: `${today.slice(0, 8)}01`, to: today },
    }
    const [year, month, date] = [moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate()]
    const renewsAt = (kind: QuotaKind): string | null => {
      if (kind.endsWith('_day')) return new Date(Date.UTC(year, month, date + 1)).toISOString()
      if (kind.endsWith('_month')) return new Date(Date.UTC(year, month + 1, 1)).toISOString()
      return null
    }
    const limits = [
      { users: [userId], group: null, quota: access.quota(userId) },
      ...access.spendingLimits(userId).filter(({ group }) => group !== null),
    ]
    const items: QuotaItem[] = []
    for (const { users, group, quota } of limits) {
      const limitOf = new Map<string, number | null>(Object.entries(quota))
      for (const kind of QuotaKindName.options) {
        const limit = limitOf.get(kind) ?? null
        if (limit === null) continue
        const used = await usedOf(users, userId, kind, ranges)
        items.push({ kind, group, limit, ...used, renews_at: renewsAt(kind) })
      }
    }
    return {
      items,
      approval_modes: access.approvalModes(userId),
      default_approval: access.approvalMode(userId, defaultApproval()),
      speech,
    }
  }
}
