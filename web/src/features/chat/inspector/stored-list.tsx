// The list of a run's commits: what was stored, and when.

import type { StoredEvent } from '../../../../../server/protocol/runs/run-record.ts'
import { fineDuration, fullTime } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { keyed } from '../../../lib/list-keys.ts'

/** `stored` is in the order of the commits. */
export function StoredList({ stored }: { stored: readonly StoredEvent[] }) {
  const { t, i18n } = useTranslation()
  const start = Date.parse(stored[0]?.at ?? '')
  return (
    <ol aria-label={t('inspector.filters.stored')} className="flex flex-col divide-y divide-line">
      {keyed(stored, ({ what, at }) => `${what} ${at}`).map(({ key, item: one }) => (
        <li key={key} className="flex flex-wrap items-baseline gap-x-2.5 py-2 text-sm">
          <span className="min-w-0 flex-1">
            {t(`inspector.stored.${one.what}`)}
            {one.count !== undefined && ` × ${one.count}`}
          </span>
          <span className="text-xs text-muted tabular-nums">
            {t('inspector.at', { time: fineDuration(Date.parse(one.at) - start, i18n.language) })}
          </span>
          <span className="w-full text-xs text-muted [overflow-wrap:anywhere]">
            {[
              fullTime(one.at, i18n.language),
              one.id_ref,
              one.attempt > 1 ? t('inspector.ofAttempt', { number: one.attempt }) : null,
              one.instance === null ? null : t('inspector.instance', { id: one.instance }),
            ]
              .filter((fact) => fact != null)
              .join(' · ')}
          </span>
        </li>
      ))}
    </ol>
  )
}
