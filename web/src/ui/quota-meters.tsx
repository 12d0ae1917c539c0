// Quotas as bars with usage and time of renewal. Quotas that are nearly used up stand out.

import type { QuotaItem } from '../../../server/protocol/accounts/quota.ts'
import { fullTime } from '../lib/format.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { classNames } from './class-names.ts'
import { quotaAmount, usedShare, WARNING_SHARE } from './quota-amount.ts'
import { ProgressBar } from './states/progress-bar.tsx'

/** One bar per quota, on the usage page and for accounts in the administration. */
export function QuotaMeters({ items }: { items: readonly QuotaItem[] }) {
  const { t, i18n } = useTranslation()
  const amount = (item: QuotaItem, value: number): string => quotaAmount(item, value, i18n.language)
  return (
    <ul className="grid gap-3 sm:grid-cols-2">
      {items.map((item) => {
        const { kind, group, limit, used, renews_at: renewsAt } = item
        const name =
          group === null ? t(`quota.kind.${kind}`) : `${t(`quota.kind.${kind}`)} · ${group}`
        const share = usedShare(item)
        return (
          <li
            key={`${kind} ${group ?? ''}`}
            className="flex flex-col gap-1.5 rounded-2xl border border-line bg-surface p-4"
          >
            <p className="text-note wrap-anywhere text-muted">{name}</p>
            <p className="font-medium tabular-nums">
              {used === null
                ? amount(item, limit)
                : t('quota.usedOf', { used: amount(item, used), limit: amount(item, limit) })}
            </p>
            {used !== null && <ProgressBar label={name} part={share} />}
            <p
              className={classNames(
                'text-note',
                share >= WARNING_SHARE ? 'text-warn' : 'text-muted',
              )}
            >
              {share >= WARNING_SHARE && (
                <span>{t(share >= 1 ? 'quota.reached' : 'quota.near')} </span>
              )}
              {renewsAt !== null && t('quota.renewed', { time: fullTime(renewsAt, i18n.language) })}
              {kind === 'storage' && t('quota.storageText')}
            </p>
          </li>
        )
      })}
    </ul>
  )
}
