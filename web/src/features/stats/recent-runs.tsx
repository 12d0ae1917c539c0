// The latest runs, newest first, with state, model, duration, tokens and cost.
import { Activity } from 'lucide-react'
import { Link } from 'wouter'
import type { ListedRun } from '../../../../server/protocol/runs/run-list.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { fineDuration, money, shortTime, wholeNumber } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { classNames } from '../../ui/class-names.ts'
import { ActionButton } from '../../ui/controls/action-button.tsx'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { Facts } from '../../ui/facts.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed } from '../../ui/states/feedback.tsx'
import { runsKey, useRuns } from './api/runs.ts'

/** A section of the usage page. Older runs load on request. Renders nothing without runs. */
export function RecentRuns({ onInspect }: { onInspect: (run: ListedRun) => void }) {
  const { t } = useTranslation()
  const list = useRuns()
  const runs = list.data?.pages.flatMap(({ items }) => items) ?? []
  if (list.isLoadingError)
    return <Failed message={errorText(list.error)} onRetry={() => void list.refetch()} />
  if (runs.length === 0) return null
  return (
    <section>
      <h2 id="recent-runs" className="mb-2 text-sm font-medium text-soft">
        {t('stats.runs')}
      </h2>
      <ul
        aria-labelledby="recent-runs"
        className="divide-y divide-line rounded-2xl border border-line bg-surface"
      >
        {runs.map((run) => (
          <RunRow key={run.id} run={run} onInspect={() => onInspect(run)} />
        ))}
      </ul>
      <ShowMore list={list} queryKey={runsKey} tone="quiet" />
    </section>
  )
}

function RunRow({ run, onInspect }: { run: ListedRun; onInspect: () => void }) {
  const { t, i18n } = useTranslation()
  const { data: models } = useModels()
  const { usage, ended_at: ended, created_at: created } = run
  const facts = [
    shortTime(created, i18n.language),
    models?.find(({ id }) => id === run.model)?.name ?? run.model,
    ended === null ? null : fineDuration(Date.parse(ended) - Date.parse(created), i18n.language),
    t('stats.tokens', { tokens: wholeNumber(usage.total_tokens, i18n.language) }),
    ...Object.entries(usage.cost).map(([currency, amount]) =>
      money(amount, currency, i18n.language),
    ),
  ].filter((fact) => fact !== null)
  return (
    <li className="flex items-center gap-3 py-2.5 ps-4 pe-2 text-sm">
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-3">
          <Link
            href={paths.messageLink(run.conversation_id, run.message_id)}
            dir="auto"
            className="touch-target inline-flex min-w-0 items-center font-medium underline-offset-3 hover:underline"
          >
            <span className="truncate">
              {run.conversation_title === '' ? t('conversation.untitled') : run.conversation_title}
            </span>
          </Link>
          {run.status !== 'completed' && (
            <span
              className={classNames(
                'shrink-0 text-xs',
                run.status === 'failed' ? 'text-bad' : ended === null ? 'text-accent' : 'text-warn',
              )}
            >
              {t(`background.status.${run.status}`)}
            </span>
          )}
        </p>
        <p className="mt-0.5 text-note text-muted tabular-nums">
          <Facts of={facts} />
        </p>
      </div>
      <ActionButton icon={Activity} label={t('answer.inspect')} onClick={onInspect} />
    </li>
  )
}
