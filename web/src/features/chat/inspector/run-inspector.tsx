// The inspector of a run: each model call and tool call with its start, duration, tokens, cost, retries and fallback.
import { Copy, Download } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { TimelineEntry } from '../../../../../server/protocol/runs/run-timeline.ts'
import { timingOf } from '../../../../../server/protocol/runs/run-timeline.ts'
import { useTimeline } from '../../../lib/api/timeline.ts'
import { copyText } from '../../../lib/browser/copy-text.ts'
import { saveFile } from '../../../lib/browser/save-file.ts'
import { fineDuration, money } from '../../../lib/format.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { Segmented } from '../../../ui/controls/segmented.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { EntryRow } from './entry-row.tsx'

const FILTERS = ['all', 'model', 'tool'] as const
type Filter = (typeof FILTERS)[number]

export function RunInspector({
  runId,
  live,
  onClose,
}: {
  runId: string
  /** The run is active. */
  live: boolean
  onClose: () => void
}) {
  const { t } = useTranslation()
  const timeline = useTimeline(runId, live)
  return (
    <Dialog open onOpenChange={onClose} title={t('inspector.title')} width="wide">
      {timeline.isPending ? (
        <Loading />
      ) : timeline.isLoadingError ? (
        <Failed message={errorText(timeline.error)} onRetry={() => void timeline.refetch()} />
      ) : timeline.data.entries.length === 0 ? (
        <p className="p-6 text-center text-sm text-muted">{t('inspector.empty')}</p>
      ) : (
        <Timeline runId={runId} entries={timeline.data.entries} />
      )}
    </Dialog>
  )
}

function Timeline({ runId, entries }: { runId: string; entries: readonly TimelineEntry[] }) {
  const { t } = useTranslation()
  const [filter, setFilter] = useState<Filter>('all')
  // They are stored in the order in which they ended.
  const sorted = entries.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))
  const start = Date.parse(sorted[0]?.started_at ?? '')
  const total = timingOf(entries)?.duration_ms ?? 0
  const shown = sorted.filter(({ kind }) => filter === 'all' || kind === filter)
  const json = (): string => JSON.stringify({ run_id: runId, entries: sorted }, null, 2)
  return (
    <>
      <Totals entries={sorted} total={total} />
      <div className="my-3 flex flex-wrap items-center gap-2">
        <Segmented
          label={t('inspector.filter')}
          value={filter}
          options={FILTERS.map((value) => ({ value, label: t(`inspector.filters.${value}`) }))}
          onChange={setFilter}
        />
        <span className="flex-1" />
        <Button
          size="small"
          icon={Copy}
          onClick={() =>
            void copyText(json()).then((copied) =>
              notify(t(copied ? 'common.copied' : 'common.notCopied'), copied ? 'plain' : 'error'),
            )
          }
        >
          {t('inspector.copy')}
        </Button>
        <Button
          size="small"
          icon={Download}
          onClick={() =>
            saveFile(new Blob([json()], { type: 'application/json' }), `run-${runId}.json`)
          }
        >
          {t('inspector.download')}
        </Button>
      </div>
      <ol aria-label={t('inspector.title')} className="flex flex-col divide-y divide-line">
        {shown.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are only added
          <EntryRow key={index} entry={entry} start={start} total={total} />
        ))}
      </ol>
    </>
  )
}

/** Tokens, cost and time of all entries. */
function Totals({ entries, total }: { entries: readonly TimelineEntry[]; total: number }) {
  const { t, i18n } = useTranslation()
  const calls = entries.filter((entry) => entry.kind === 'model')
  const costs = new Map<string, number>()
  for (const { cost } of calls)
    for (const [currency, amount] of Object.entries(cost))
      costs.set(currency, (costs.get(currency) ?? 0) + amount)
  const facts = [
    fineDuration(total),
    t('inspector.modelCalls', { count: calls.length }),
    t('inspector.toolCalls', { count: entries.length - calls.length }),
    ...[...costs].map(([currency, amount]) => money(amount, currency, i18n.language)),
  ]
  return <p className="mt-1 text-sm text-soft tabular-nums">{facts.join(' · ')}</p>
}
