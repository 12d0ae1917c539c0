// The notice below the message field that a limit of tokens or cost is nearly or entirely used up. Stays until that changes.
import { Gauge } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { QuotaItem } from '../../../../../server/protocol/accounts/quota.ts'
import { useAuthMode } from '../../../lib/api/auth.ts'
import { useQuota } from '../../../lib/api/quota.ts'
import { fullTime } from '../../../lib/format.ts'
import { joinSentences } from '../../../lib/i18n/sentences.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Facts } from '../../../ui/facts.tsx'
import { quotaAmount, usedShare, WARNING_SHARE } from '../../../ui/quota-amount.ts'

/** The limits that stop answers. */
const stopsAnswers = ({ kind }: QuotaItem): boolean =>
  kind.startsWith('tokens') || kind.startsWith('cost')

/** Shows the limit that is used up most, if it is nearly used up. `running`: whether an answer is being written. */
export function QuotaNotice({ running }: { running: boolean }) {
  const { t, i18n } = useTranslation()
  // Without accounts there are no quotas.
  const { data: mode } = useAuthMode()
  const isMulti = mode?.mode === 'multi'
  const { data, refetch } = useQuota(isMulti)
  // Also when the view opens: the first answer of a conversation may have ended before.
  useEffect(() => {
    if (!running && isMulti) void refetch()
  }, [running, isMulti, refetch])
  const [item] = (data?.items ?? [])
    .filter((one) => stopsAnswers(one) && usedShare(one) >= WARNING_SHARE)
    .sort((one, other) => usedShare(other) - usedShare(one))
  if (item === undefined) return null
  const isUsedUp = usedShare(item) >= 1
  const name = t(`quota.kind.${item.kind}`)
  const used = t('quota.usedOf', {
    used: quotaAmount(item, item.used ?? 0, i18n.language),
    limit: quotaAmount(item, item.limit, i18n.language),
  })
  const state = joinSentences(
    i18n.language,
    t(isUsedUp ? 'quota.reached' : 'quota.near'),
    ...(item.renews_at === null
      ? []
      : [t('quota.renewed', { time: fullTime(item.renews_at, i18n.language) })]),
  )
  return (
    <p
      role="status"
      className={classNames(
        'mt-2 flex items-start gap-x-2 rounded-xl px-3.5 py-2 text-note',
        isUsedUp ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-ink',
      )}
    >
      <Gauge size={15} aria-hidden className="mt-0.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">
        <Facts of={[name, ...(item.group === null ? [] : [item.group]), used, state]} />{' '}
        <Link href={paths.stats} className="font-medium underline underline-offset-2">
          {t('shell.stats')}
        </Link>
      </span>
    </p>
  )
}
