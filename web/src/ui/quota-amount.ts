// Amounts of quotas for people, and how much of a quota is used.
import type { QuotaItem } from '../../../server/protocol/accounts/quota.ts'
import { fileSize, money, wholeNumber } from '../lib/format.ts'

/** From this share on, the page warns that a limit is near. */
export const WARNING_SHARE = 0.8

/** An amount in the unit of the quota: bytes, money, or a number. */
export function quotaAmount(
  { kind, currency }: QuotaItem,
  value: number,
  language: string,
): string {
  if (kind === 'storage') return fileSize(value, language)
  if (kind.startsWith('cost'))
    return currency === null ? wholeNumber(value, language) : money(value, currency, language)
  return wholeNumber(value, language)
}

/** The used share, from 0 to 1. */
export const usedShare = ({ used, limit }: QuotaItem): number =>
  used === null || limit === 0 ? 0 : Math.min(1, used / limit)
