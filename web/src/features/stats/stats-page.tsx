// The usage page: token usage by day and by model, quotas, and the latest runs.
import { ChartNoAxesColumn } from 'lucide-react'
import { useState } from 'react'
import type { ListedRun } from '../../../../server/protocol/runs/run-list.ts'
import type { StatsPeriod, TokenStats } from '../../../../server/protocol/runs/stats.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { useQuota } from '../../lib/api/quota.ts'
import { money, numbersAlike, percent, wholeNumber } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { QuotaMeters } from '../../ui/quota-meters.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { useTokenStats } from './api/stats.ts'
import { RecentRuns } from './recent-runs.tsx'
import { usageBars } from './usage-bars.ts'

const PERIODS: readonly StatsPeriod[] = ['daily', 'weekly', 'monthly']

/** The page at `/stats`. `onInspect` opens the inspector for a run. */
export function StatsPage({ onInspect }: { onInspect: (run: ListedRun) => void }) {
  const { t } = useTranslation()
  const [period, setPeriod] = useState<StatsPeriod>('weekly')
  const stats = useTokenStats(period)
  const quota = useQuota()
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-5 py-8">
      <header className="flex flex-wrap items-end justify-between gap-3">
        <h1 className="font-display text-3xl tracking-tight">{t('stats.title')}</h1>
        <Segmented
          label={t('stats.period')}
          value={period}
          options={PERIODS.map((value) => ({ value, label: t(`stats.${value}`) }))}
          onChange={setPeriod}
        />
      </header>
      {stats.isPending && <Loading />}
      {stats.isError && (
        <Failed message={errorText(stats.error)} onRetry={() => void stats.refetch()} />
      )}
      {quota.isLoadingError && !stats.isError && (
        <Failed message={errorText(quota.error)} onRetry={() => void quota.refetch()} />
      )}
      {quota.data !== undefined && quota.data.items.length > 0 && (
        <section>
          <h2 className="mb-2 text-sm font-medium text-soft">{t('quota.title')}</h2>
          <QuotaMeters items={quota.data.items} />
        </section>
      )}
      {stats.data !== undefined && <Figures stats={stats.data} />}
      <RecentRuns onInspect={onInspect} />
    </div>
  )
}

function Figures({ stats }: { stats: TokenStats }) {
  const { t, i18n } = useTranslation()
  const { data: models } = useModels()
  if (stats.total_tokens === 0)
    return (
      <Empty icon={ChartNoAxesColumn} title={t('stats.nothing')} text={t('stats.nothingText')} />
    )
  const nameOf = (id: string): string => models?.find((model) => model.id === id)?.name ?? id
  const costOf = (sums: Readonly<Record<string, number>>): string =>
    Object.entries(sums)
      .map(([currency, amount]) => money(amount, currency, i18n.language))
      .join(' · ')
  const cost = costOf(stats.cost)
  const mostUsedFirst = Object.entries(stats.by_model).toSorted(
    ([, a], [, b]) => b.total_tokens - a.total_tokens,
  )
  const shown = numbersAlike([stats.total_tokens], i18n.language)
  const cachedOf = (tokens: Pick<TokenStats, 'cached_tokens' | 'prompt_tokens'>): string =>
    t('stats.cached', {
      tokens: shown(tokens.cached_tokens),
      share: percent(tokens.cached_tokens / tokens.prompt_tokens, i18n.language),
    })
  return (
    <>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3">
        {(
          [
            ['total_tokens', stats.total_tokens],
            ['prompt_tokens', stats.prompt_tokens],
            ['completion_tokens', stats.completion_tokens],
          ] as const
        ).map(([key, value]) => (
          <div
            key={key}
            className="rounded-2xl border border-line bg-surface p-4 max-sm:first:col-span-2"
          >
            <dt className="text-note text-muted">{t(`stats.${key}`)}</dt>
            <dd className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">
              {shown(value)}
            </dd>
            {key === 'prompt_tokens' && stats.cached_tokens > 0 && (
              <dd className="mt-0.5 text-note text-muted">{cachedOf(stats)}</dd>
            )}
            {key === 'prompt_tokens' && stats.cache_write_tokens > 0 && (
              <dd className="mt-0.5 text-note text-muted">
                {t('stats.cacheWrite', {
                  tokens: shown(stats.cache_write_tokens),
                })}
              </dd>
            )}
            {key === 'completion_tokens' && stats.reasoning_tokens > 0 && (
              <dd className="mt-0.5 text-note text-muted">
                {t('stats.reasoning', {
                  tokens: shown(stats.reasoning_tokens),
                })}
              </dd>
            )}
          </div>
        ))}
      </dl>
      {cost !== '' && <p className="text-sm text-soft">{t('stats.costIs', { cost })}</p>}
      <Bars stats={stats} />
      <section>
        <h2 className="mb-2 text-sm font-medium text-soft">{t('stats.byModel')}</h2>
        <div className="overflow-x-auto rounded-2xl border border-line bg-surface">
          <table className="w-full text-sm tabular-nums">
            <thead className="text-start text-muted">
              <tr>
                <th scope="col" className="px-4 py-2.5 text-start font-medium max-sm:px-3">
                  {t('stats.model')}
                </th>
                <th scope="col" className="px-4 py-2.5 text-end font-medium max-sm:px-3">
                  {t('stats.prompt_tokens')}
                </th>
                <th scope="col" className="px-4 py-2.5 text-end font-medium max-sm:px-3">
                  {t('stats.completion_tokens')}
                </th>
                {cost !== '' && (
                  <th scope="col" className="px-4 py-2.5 text-end font-medium max-sm:px-3">
                    {t('stats.cost')}
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {mostUsedFirst.map(([model, tokens]) => (
                <tr key={model} className="border-t border-line">
                  <th
                    scope="row"
                    className="px-4 py-2.5 text-start font-normal wrap-anywhere max-sm:px-3"
                    title={model}
                  >
                    {nameOf(model)}
                  </th>
                  <td className="px-4 py-2.5 text-end max-sm:px-3">
                    {wholeNumber(tokens.prompt_tokens, i18n.language)}
                    {tokens.cached_tokens > 0 && (
                      <span className="block text-xs text-muted">{cachedOf(tokens)}</span>
                    )}
                  </td>
                  <td className="px-4 py-2.5 text-end max-sm:px-3">
                    {wholeNumber(tokens.completion_tokens, i18n.language)}
                  </td>
                  {cost !== '' && (
                    <td className="px-4 py-2.5 text-end max-sm:px-3">{costOf(tokens.cost)}</td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  )
}

/**
 * One bar per hour or day with its value above it; with many bars, only above the highest. Screen readers get all values
 * as text.
 */
function Bars({ stats }: { stats: TokenStats }) {
  const { t, i18n } = useTranslation()
  const bars = usageBars(stats, new Date())
  const most = Math.max(1, ...bars.map(({ tokens }) => tokens))
  // A bar is only as wide as five digits.
  const shown = numbersAlike([most], i18n.language, 100_000)
  const nameOf = (key: string): string =>
    key.length === 2
      ? `${key}:00`
      : new Date(`${key}T00:00:00Z`).toLocaleDateString(i18n.language, {
          weekday: 'short',
          month: 'short',
          day: 'numeric',
          timeZone: 'UTC',
        })
  const shortOf = (key: string, weekday: boolean): string =>
    key.length === 2
      ? key
      : new Date(`${key}T00:00:00Z`).toLocaleDateString(i18n.language, {
          day: 'numeric',
          timeZone: 'UTC',
          ...(weekday ? { weekday: 'short' } : {}),
        })
  /** Whether each bar is wide enough for its own labels. */
  const isRoomy = bars.length <= 7
  /** Labels every n-th bar, because not every label fits below a narrow bar. */
  const every = isRoomy ? 1 : bars.length > 24 ? 5 : 4
  return (
    <figure>
      <figcaption className="mb-2 text-sm font-medium text-soft">
        {t(stats.hourly === undefined ? 'stats.byDay' : 'stats.byHour')}
      </figcaption>
      <ol className="flex h-48 items-end gap-1 rounded-2xl border border-line bg-surface px-4 pt-4 pb-2 max-sm:gap-0.5 max-sm:px-2.5">
        {bars.map(({ key, tokens }, index) => (
          <li
            key={key}
            className="flex h-full min-w-0 flex-1 flex-col justify-end gap-1.5"
            title={`${nameOf(key)}: ${wholeNumber(tokens, i18n.language)}`}
          >
            {/* The space above the highest bar is for its value. */}
            <span className="flex min-h-0 flex-1 items-end justify-center pt-4">
              <span
                className={`relative w-full max-w-10 rounded-t-[5px] ${tokens === 0 ? 'bg-line' : 'bg-accent/85'}`}
                style={{
                  height: tokens === 0 ? '2px' : `${Math.max(2.5, (tokens / most) * 100)}%`,
                }}
              >
                {tokens > 0 && (isRoomy || tokens === most) && (
                  <span
                    aria-hidden
                    className="absolute bottom-full left-1/2 -translate-x-1/2 text-[0.6875rem] leading-4 whitespace-nowrap text-muted tabular-nums"
                  >
                    {shown(tokens)}
                  </span>
                )}
              </span>
            </span>
            <span className="h-4 text-center text-[0.6875rem] whitespace-nowrap text-muted">
              {index % every === 0 && (
                <>
                  <span aria-hidden className="max-sm:hidden">
                    {shortOf(key, isRoomy)}
                  </span>
                  <span aria-hidden className="sm:hidden">
                    {shortOf(key, false)}
                  </span>
                </>
              )}
              <span className="sr-only">
                {nameOf(key)}: {wholeNumber(tokens, i18n.language)} {t('stats.total_tokens')}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </figure>
  )
}
