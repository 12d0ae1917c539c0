// The usage of a month by account or by group, with totals and a download.
import { ChartNoAxesColumn, Download } from 'lucide-react'
import { useState } from 'react'
import type { UsageBy, UsageTotal } from '../../../../server/protocol/admin/usage.ts'
import { usageKey, useUsage, useUsageDownload } from '../../lib/api/admin.ts'
import { money, wholeNumber } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField } from '../../ui/controls/field.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { monthsBetween } from './months.ts'

const BY: readonly UsageBy[] = ['account', 'group']

/** A tab of the administration. Months are in UTC, as on the server. */
export function UsageSection() {
  const { t, i18n } = useTranslation()
  const current = new Date().toISOString().slice(0, 7)
  const [month, setMonth] = useState(current)
  const [by, setBy] = useState<UsageBy>('account')
  const usage = useUsage(month, by)
  const download = useUsageDownload()
  const report = usage.data?.pages.at(-1)
  const months = monthsBetween(report?.first_month ?? month, current)
  const rows = usage.data?.pages.flatMap(({ items }) => items) ?? []
  const monthName = (key: string): string =>
    new Date(`${key}-01T00:00:00Z`).toLocaleDateString(i18n.language, {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    })
  return (
    <section className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-40 flex-1 sm:max-w-60">
          <SelectField
            label={t('admin.usage.month')}
            value={month}
            options={months.map((key) => ({ value: key, label: monthName(key) }))}
            onChange={(event) => setMonth(event.target.value)}
          />
        </div>
        <Segmented
          label={t('admin.usage.by')}
          value={by}
          options={BY.map((value) => ({ value, label: t(`admin.usage.per.${value}`) }))}
          onChange={setBy}
        />
        <Button
          className="ms-auto"
          icon={Download}
          disabled={download.isPending || rows.length === 0}
          onClick={() => download.mutate({ month, by })}
        >
          {t('admin.usage.download')}
        </Button>
      </div>
      {usage.isPending && <Loading />}
      {usage.isError && !usage.isFetchNextPageError && (
        <Failed message={errorText(usage.error)} onRetry={() => void usage.refetch()} />
      )}
      {usage.isSuccess && rows.length === 0 && (
        <Empty icon={ChartNoAxesColumn} title={t('admin.usage.none')} />
      )}
      {report !== undefined && rows.length > 0 && (
        <ScrollRegion className="overflow-x-auto rounded-2xl border border-line bg-surface -outline-offset-2">
          <table className="w-full text-sm tabular-nums">
            <thead className="text-muted">
              <tr>
                <th scope="col" className="px-4 py-2.5 text-start font-medium">
                  {t(`admin.usage.per.${by}`)}
                </th>
                <NumberHead isWide>{t('stats.prompt_tokens')}</NumberHead>
                <NumberHead isWide>{t('stats.completion_tokens')}</NumberHead>
                <NumberHead>{t('stats.total_tokens')}</NumberHead>
                <NumberHead>{t('stats.cost')}</NumberHead>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id} className="border-t border-line">
                  <th scope="row" className="px-4 py-2.5 text-start font-normal wrap-anywhere">
                    {row.name ?? t('admin.usage.withoutGroup')}
                  </th>
                  <Figures of={row} />
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr className="border-t border-line-strong font-medium">
                <th scope="row" className="px-4 py-2.5 text-start font-medium">
                  {t('admin.usage.total')}
                </th>
                <Figures of={report.total} />
              </tr>
            </tfoot>
          </table>
        </ScrollRegion>
      )}
      <ShowMore list={usage} queryKey={usageKey(month, by)} />
      {by === 'group' && rows.length > 0 && (
        <p className="text-note text-muted">{t('admin.usage.groupsText')}</p>
      )}
    </section>
  )
}

function NumberHead({ isWide = false, children }: { isWide?: boolean; children: string }) {
  return (
    <th
      scope="col"
      className={`px-4 py-2.5 text-end font-medium break-keep ${isWide ? 'max-sm:hidden' : ''}`}
    >
      {children}
    </th>
  )
}

/** The cells of a row. On a narrow screen, the total is enough. */
function Figures({ of: sums }: { of: UsageTotal }) {
  const { i18n } = useTranslation()
  const cost = Object.entries(sums.cost).map(([currency, amount]) =>
    money(amount, currency, i18n.language),
  )
  const cell = 'px-4 py-2.5 text-end whitespace-nowrap'
  return (
    <>
      <td className={`${cell} max-sm:hidden`}>{wholeNumber(sums.prompt_tokens, i18n.language)}</td>
      <td className={`${cell} max-sm:hidden`}>
        {wholeNumber(sums.completion_tokens, i18n.language)}
      </td>
      <td className={cell}>{wholeNumber(sums.total_tokens, i18n.language)}</td>
      <td className={cell}>{cost.length === 0 ? '–' : cost.join(' · ')}</td>
    </>
  )
}
