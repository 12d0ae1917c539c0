// The run inspector: each model call and tool call with its figures, request and response, and the run's commits.
import { Copy, Download, Search } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import type { RunRecord } from '../../../../../server/protocol/runs/run-record.ts'
import type { TimelineEntry } from '../../../../../server/protocol/runs/run-timeline.ts'
import {
  addWork,
  NO_WORK,
  timingOf,
  wholeSpanOf,
} from '../../../../../server/protocol/runs/run-timeline.ts'
import { useRunRecord } from '../../../lib/api/run-record.ts'
import { useTimeline } from '../../../lib/api/timeline.ts'
import { copyText } from '../../../lib/browser/copy-text.ts'
import { saveFile } from '../../../lib/browser/save-file.ts'
import { fineDuration, money } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { inputClass } from '../../../ui/controls/field.tsx'
import { Segmented } from '../../../ui/controls/segmented.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { EntryRow } from './entry-row.tsx'
import { contains, withRecord } from './recorded-call.ts'
import { StoredList } from './stored-list.tsx'
import { SubAgentFigures } from './sub-agent-figures.tsx'

const FILTERS = ['all', 'model', 'tool', 'stored'] as const
type Filter = (typeof FILTERS)[number]

const NO_PARTS: RunRecord['parts'] = {}

/** The inspector in a dialog; loads the timeline and the record of the run. */
export function RunInspector({
  runId,
  live,
  onClose,
}: {
  runId: string
  /** Whether the run is active. */
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
        <Timeline runId={runId} entries={timeline.data.entries} live={live} />
      )}
    </Dialog>
  )
}

function Timeline({
  runId,
  entries,
  live,
}: {
  runId: string
  entries: readonly TimelineEntry[]
  live: boolean
}) {
  const { t } = useTranslation()
  const [filter, setFilter] = useState<Filter>('all')
  const [words, setWords] = useState('')
  const search = useDeferredValue(words.trim())
  // `live` is part of the key: the end of a run stores more than the end of its last call.
  const { data: record } = useRunRecord(runId, `${entries.length} ${live}`)
  const parts = record?.parts ?? NO_PARTS
  // The server stores entries in the order in which they ended.
  const sorted = useMemo(
    () =>
      withRecord(entries, record).toSorted(
        (a, b) => Date.parse(a.entry.started_at) - Date.parse(b.entry.started_at),
      ),
    [entries, record],
  )
  const start = Date.parse(sorted[0]?.entry.started_at ?? '')
  const total = wholeSpanOf(entries)
  const shown = useMemo(
    () =>
      sorted.filter(
        (one) =>
          (filter === 'all' || one.entry.kind === filter) &&
          (search === '' || contains(one, search, parts)),
      ),
    [sorted, filter, search, parts],
  )
  const json = (): string =>
    JSON.stringify({ run_id: runId, entries: sorted.map(({ entry }) => entry), ...record }, null, 2)
  return (
    <>
      <Totals entries={entries} worked={timingOf(entries)?.duration_ms ?? 0} />
      <Toolbar runId={runId} filter={filter} onFilter={setFilter} json={json} />
      {filter === 'stored' ? (
        <StoredList stored={record?.stored ?? []} />
      ) : (
        <>
          <SearchField value={words} onChange={setWords} />
          <ol aria-label={t('inspector.title')} className="flex flex-col divide-y divide-line">
            {shown.map((one) => (
              <EntryRow
                key={`${one.entry.kind} ${sorted.indexOf(one)}`}
                inspected={one}
                parts={parts}
                start={start}
                total={total}
              />
            ))}
          </ol>
          {shown.length === 0 && (
            <p className="p-6 text-center text-sm text-muted">{t('inspector.noneFound')}</p>
          )}
        </>
      )}
    </>
  )
}

/** The totals of calls, cost and time of all entries, with those of sub-agents. */
function Totals({ entries, worked }: { entries: readonly TimelineEntry[]; worked: number }) {
  const { t, i18n } = useTranslation()
  const calls = entries.filter((entry) => entry.kind === 'model')
  const works = entries.flatMap((entry) =>
    entry.kind === 'tool' && entry.sub_agents !== undefined ? [entry.sub_agents] : [],
  )
  const subAgents = works.reduce(addWork, NO_WORK)
  const costs = new Map<string, number>()
  for (const { cost } of [...calls, subAgents])
    for (const [currency, amount] of Object.entries(cost))
      costs.set(currency, (costs.get(currency) ?? 0) + amount)
  const facts = [
    fineDuration(worked, i18n.language),
    t('inspector.modelCalls', { count: calls.length + subAgents.model_calls }),
    t('inspector.toolCalls', { count: entries.length - calls.length + subAgents.tool_calls }),
    ...[...costs].map(([currency, amount]) => money(amount, currency, i18n.language)),
  ]
  return (
    <>
      <p className="mt-1 text-sm text-soft tabular-nums">{facts.join(' · ')}</p>
      {works.length > 0 && <SubAgentFigures of={subAgents} />}
    </>
  )
}

/** `json` is the text to copy and save: all data about the run. */
function Toolbar({
  runId,
  filter,
  onFilter,
  json,
}: {
  runId: string
  filter: Filter
  onFilter: (filter: Filter) => void
  json: () => string
}) {
  const { t } = useTranslation()
  return (
    <div className="my-3 flex flex-wrap items-center gap-2">
      <div className="max-w-full overflow-x-auto rounded-[10px]">
        <Segmented
          label={t('inspector.filter')}
          value={filter}
          options={FILTERS.map((value) => ({ value, label: t(`inspector.filters.${value}`) }))}
          onChange={onFilter}
        />
      </div>
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
  )
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useTranslation()
  return (
    <label className="relative mb-1 block">
      <Search
        size={15}
        aria-hidden
        className="absolute start-3 top-1/2 -translate-y-1/2 text-muted"
      />
      <input
        type="search"
        aria-label={t('inspector.search')}
        placeholder={t('inspector.search')}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={`${inputClass} h-9 ps-9`}
      />
    </label>
  )
}
