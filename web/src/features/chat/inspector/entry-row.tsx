// One call in the timeline of a run: its bar on the time axis and its figures.
import { ChevronRight, Cpu, Wrench } from 'lucide-react'
import { useId, useState } from 'react'
import type {
  TimelineModelCall,
  TimelineToolCall,
} from '../../../../../server/protocol/runs/run-timeline.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { fineDuration, money, wholeNumber } from '../../../lib/format.ts'
import { refusalText } from '../../../lib/http/refusal-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { toolTitle } from '../../../lib/tool-title.ts'
import { classNames } from '../../../ui/class-names.ts'

import { EntryDetails } from './entry-details.tsx'
import type { InspectedEntry, Parts } from './recorded-call.ts'
import { SubAgentFigures } from './sub-agent-figures.tsx'

/** The minimum width in percent of the axis, so that short calls are visible. */
const MIN_WIDTH_PERCENT = 0.6

/** `start` and `total` are those of the whole run, in milliseconds. */
export function EntryRow({
  inspected,
  parts,
  start,
  total,
}: {
  inspected: InspectedEntry
  parts: Parts
  start: number
  total: number
}) {
  const { t, i18n } = useTranslation()
  const { data: models } = useModels()
  const { entry } = inspected
  const [open, setOpen] = useState(false)
  const details = useId()
  const offset = Date.parse(entry.started_at) - start
  const isModel = entry.kind === 'model'
  const Icon = isModel ? Cpu : Wrench
  const name = isModel
    ? (models?.find(({ id }) => id === entry.model)?.name ?? entry.model)
    : toolTitle(entry.name, t)
  const hasFailed = isModel ? entry.outcome === 'failed' : !entry.success
  const share = (ms: number): number => (total === 0 ? 0 : (ms / total) * 100)
  return (
    <li className="py-2.5 text-sm">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={details}
        onClick={() => setOpen(!open)}
        className="-mx-1.5 flex min-h-8 pointer-coarse:min-h-11 w-[calc(100%+0.75rem)] items-baseline gap-2.5 rounded-lg px-1.5 py-1 text-start hover:bg-hover"
      >
        <ChevronRight
          size={14}
          aria-hidden
          className={classNames(
            'shrink-0 translate-y-0.5 text-muted transition-transform',
            open ? 'rotate-90' : 'rtl:rotate-180',
          )}
        />
        <Icon size={14} aria-hidden className="shrink-0 translate-y-0.5 text-muted" />
        <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
        {hasFailed && <span className="text-xs text-bad">{t('inspector.failed')}</span>}
        <span className="shrink-0 text-xs text-muted tabular-nums">
          {t('inspector.at', { time: fineDuration(offset, i18n.language) })}
        </span>
        <span className="w-16 shrink-0 text-end tabular-nums">
          {fineDuration(entry.duration_ms, i18n.language)}
        </span>
      </button>
      <div aria-hidden className="mt-1.5 h-1.5 rounded-full bg-sunken">
        <div
          style={{
            marginInlineStart: `${Math.min(share(offset), 100 - MIN_WIDTH_PERCENT)}%`,
            width: `${Math.min(Math.max(share(entry.duration_ms), MIN_WIDTH_PERCENT), 100 - Math.min(share(offset), 100 - MIN_WIDTH_PERCENT))}%`,
          }}
          className={classNames(
            'h-full rounded-full',
            hasFailed ? 'bg-bad' : isModel ? 'bg-accent' : 'bg-warn',
          )}
        />
      </div>
      {isModel ? <ModelFigures call={entry} /> : <ToolFigures call={entry} />}
      <div id={details}>{open && <EntryDetails inspected={inspected} parts={parts} />}</div>
    </li>
  )
}

function ModelFigures({ call }: { call: TimelineModelCall }) {
  const { t, i18n } = useTranslation()
  const count = (tokens: number): string => wholeNumber(tokens, i18n.language)
  const facts = [
    call.first_output_ms === null
      ? null
      : t('inspector.firstOutput', { time: fineDuration(call.first_output_ms, i18n.language) }),
    t('inspector.input', { tokens: count(call.prompt_tokens) }),
    call.cached_tokens === 0 ? null : t('inspector.cached', { tokens: count(call.cached_tokens) }),
    (call.cache_write_tokens ?? 0) === 0
      ? null
      : t('inspector.cacheWrite', { tokens: count(call.cache_write_tokens ?? 0) }),
    t('inspector.output', { tokens: count(call.completion_tokens) }),
    call.reasoning_tokens === 0
      ? null
      : t('inspector.reasoning', { tokens: count(call.reasoning_tokens) }),
    call.estimated ? t('inspector.estimated') : null,
    ...Object.entries(call.cost).map(([currency, amount]) =>
      money(amount, currency, i18n.language),
    ),
  ].filter((fact) => fact !== null)
  return (
    <>
      <p className="mt-1.5 text-xs text-soft tabular-nums">{facts.join(' · ')}</p>
      {call.retries.map((retry) => (
        <p key={retry.after_ms} className="mt-1 text-xs text-warn">
          {t('inspector.retry', {
            time: fineDuration(retry.after_ms, i18n.language),
            reason: refusalText({ reason: retry.reason, params: undefined, message: retry.reason }),
          })}
          {retry.next_model !== undefined &&
            ` ${t('inspector.fallback', { model: retry.next_model })}`}
        </p>
      ))}
    </>
  )
}

function ToolFigures({ call }: { call: TimelineToolCall }) {
  const { t } = useTranslation()
  const facts = [
    call.name,
    call.cached ? t('inspector.reused') : null,
    call.skipped ? t('inspector.skipped') : null,
  ].filter((fact) => fact !== null)
  return (
    <>
      <p className="mt-1.5 font-mono text-xs text-soft">{facts.join(' · ')}</p>
      {call.sub_agents !== undefined && <SubAgentFigures of={call.sub_agents} />}
    </>
  )
}
